-- How much a model is asked at a time, where `models test` found out that it quotes nothing ('turns'). NULL: not known.
ALTER TABLE model_link ADD COLUMN asked TEXT COLLATE "C";
