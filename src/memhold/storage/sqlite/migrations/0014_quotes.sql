-- The words that a model's statement rests on (a JSON list of [message id, text]), and what speaks against it. NULL: none.
ALTER TABLE memory ADD COLUMN quotes TEXT;
ALTER TABLE memory ADD COLUMN standing TEXT CHECK (standing = 'doubtful');
ALTER TABLE memory ADD COLUMN doubts TEXT;
