"""Merges of our own, for the check: what a careful person would write, and what a careless judge might. Plain data.

Each is the language, the sources (oldest first), the text, and what was dropped (words, place of the newer source).
"""

from __future__ import annotations

# ruff: noqa: RUF001 - texts of several scripts, one merge a line where it can be read so

__all__ = ["FAIR", "FALSE", "UNSEEN_FAIR", "UNSEEN_FALSE", "Merge"]


# fmt: off
Merge = tuple[str, list[str], str, list[tuple[str, int]]]

FAIR: list[Merge] = [
    # English
    ("en", ["The user drinks oat milk in her coffee", "She takes her coffee with oat milk, no sugar"], "The user drinks her coffee with oat milk and no sugar", []),
    ("en", ["The user does not eat meat. The user does not drink wine", "She is a vegetarian and drinks no wine"], "The user is a vegetarian: she does not eat meat, nor does she drink wine", []),
    ("en", ["The red door is locked after 6 pm", "After 6 pm the red door stays locked"], "The red door is locked after 6 pm", []),
    ("en", ["Never deploy on Fridays", "The team never deploys on a Friday, and always announces a release"], "The team never deploys on Fridays and always announces a release", []),
    ("en", ["The gate is not locked during the day. The shed is locked", "During the day the gate stays open, the shed is locked"], "The gate is not locked during the day and stays open; the shed is locked", []),
    ("en", ["The user likes long walks before breakfast", "Before breakfast she usually goes for a long walk"], "The user likes to go for a long walk before breakfast", []),
    ("en", ["The nightly job takes more than two hours", "The nightly job runs for over two hours on the old server"], "The nightly job takes more than two hours on the old server", []),
    ("en", ["Reviews must be done by two people", "Every change must be reviewed by two people"], "Every change must be reviewed by two people", []),
    ("en", ["The user prefers tea to coffee", "Prefers tea over coffee in the morning"], "The user prefers tea to coffee in the morning", []),
    ("en", ["The car is parked behind the house", "Her blue car stands behind the house"], "The blue car is parked behind the house", []),
    ("en", ["The old laptop has no camera", "The old laptop does not have a camera or a microphone"], "The old laptop has neither a camera nor a microphone", []),
    ("en", ["The user used to smoke", "The user no longer smokes and has started to swim"], "The user no longer smokes and has started to swim", [("used to smoke", 2)]),
    ("en", ["Her sister lives near the harbour", "The user's sister has a flat near the harbour"], "The user's sister lives in a flat near the harbour", []),
    ("en", ["The user is afraid of dogs, not of cats", "Dogs frighten the user"], "The user is afraid of dogs but not of cats", []),
    ("en", ["Tests are run before every merge", "Every merge needs a run of the tests before it"], "Tests are run before every merge", []),
    ("en", ["The heating is off until October", "Until October the heating stays off in the office"], "The heating in the office is off until October", []),
    ("en", ["Her nephew Ivo is in the Larch Road choir", "Ivo left it and sings with Cantabile now"], "Ivo, her nephew, now sings with Cantabile; before that it was the Larch Road choir", [("choir", 2)]),
    # German
    ("de", ["Fährt mit dem Auto zur Arbeit", "Hat das Auto verkauft und pendelt jetzt mit dem Rad"], "Der Nutzer hat das Auto verkauft und fährt jetzt mit dem Rad zur Arbeit", [("Auto", 2)]),
    ("de", ["Der Nutzer mag keinen Kaffee. Er trinkt gern Tee", "Statt Kaffee trinkt der Nutzer lieber grünen Tee"], "Der Nutzer mag keinen Kaffee und trinkt gern grünen Tee", []),
    ("de", ["Die Haustür wird immer abgeschlossen", "Die Haustür ist nachts immer abgeschlossen"], "Die Haustür wird nachts immer abgeschlossen", []),
    ("de", ["Der Schlüssel liegt unter der Matte", "Unter der Matte vor der Tür liegt der Schlüssel"], "Der Schlüssel liegt unter der Matte vor der Tür", []),
    ("de", ["Die Wohnung hat einen Balkon mit Blick auf den Fluss", "Vom Balkon der Wohnung sieht man den Fluss"], "Die Wohnung hat einen Balkon mit Blick auf den Fluss", []),
    ("de", ["Vor der Reise wird die Heizung abgestellt", "Die Heizung wird vor jeder Reise abgestellt"], "Die Heizung wird vor jeder Reise abgestellt", []),
    ("de", ["Die Nutzerin isst weder Fisch noch Fleisch", "Sie isst kein Fleisch und keinen Fisch, aber Eier"], "Die Nutzerin isst weder Fisch noch Fleisch, aber Eier", []),
    ("de", ["Der Arzt hat die Praxis am Markt", "Die Praxis des Arztes liegt am Markt im ersten Stock"], "Die Praxis des Arztes liegt am Markt im ersten Stock", []),
    ("de", ["Die Sicherung läuft jede Nacht auf den Server im Keller", "Jede Nacht werden die Daten auf dem Server im Keller gesichert"], "Jede Nacht werden die Daten auf den Server im Keller gesichert", []),
    # French
    ("fr", ["Le client ne mange pas de viande et boit du thé", "Le client est végétarien, il boit du thé vert"], "Le client est végétarien, ne mange pas de viande et boit du thé vert", []),
    ("fr", ["Le bureau est à deux pas de la gare", "Le bureau se trouve tout près de la gare"], "Le bureau est à deux pas de la gare", []),
    ("fr", ["La réunion a lieu après le déjeuner", "Après le déjeuner, l'équipe se réunit dans la grande salle"], "La réunion de l'équipe a lieu après le déjeuner dans la grande salle", []),
    ("fr", ["Le client ne boit jamais d'alcool", "Le client ne boit pas d'alcool, jamais"], "Le client ne boit jamais d'alcool", []),
    ("fr", ["La porte du jardin reste toujours ouverte", "La porte du jardin n'est jamais fermée"], "La porte du jardin reste toujours ouverte, elle n'est jamais fermée", []),
    ("fr", ["Sa fille apprend le violon depuis longtemps", "La fille du client joue du violon"], "La fille du client apprend et joue du violon depuis longtemps", []),
    # Spanish
    ("es", ["El usuario no toma leche. El usuario no come pan", "Ni leche ni pan para el usuario"], "El usuario no toma leche ni come pan", []),
    ("es", ["La usuaria corre antes de desayunar", "Antes de desayunar sale a correr por el parque"], "La usuaria corre por el parque antes de desayunar", []),
    ("es", ["El coche está en el taller", "El coche rojo está en el taller de su hermano"], "El coche rojo está en el taller de su hermano", []),
    ("es", ["Siempre viaja con su perro", "La usuaria viaja siempre en tren con su perro"], "La usuaria siempre viaja en tren con su perro", []),
    ("es", ["El informe se entrega sin anexos", "El informe va sin anexos y en papel"], "El informe se entrega en papel y sin anexos", []),
    ("es", ["Su madre cocina muy bien", "A la usuaria le gusta cómo cocina su madre"], "A la usuaria le gusta cómo cocina su madre, que lo hace muy bien", []),
    # Portuguese
    ("pt", ["O usuário trabalha no porto e mora no centro", "Ele trabalha no porto de manhã"], "O usuário trabalha no porto de manhã e mora no centro", []),
    ("pt", ["A usuária não come carne. Ela nada todos os dias", "Todos os dias ela nada na piscina, e não come carne"], "A usuária não come carne e nada todos os dias na piscina", []),
    ("pt", ["O carro fica na garagem", "O carro novo fica na garagem do prédio"], "O carro novo fica na garagem do prédio", []),
    ("pt", ["A reunião é depois do almoço", "Depois do almoço há reunião com a equipe"], "A reunião com a equipe é depois do almoço", []),
    ("pt", ["O usuário bebe café sem açúcar", "Ele prefere café sem açúcar e com leite"], "O usuário bebe café sem açúcar e com leite", []),
    # Italian
    ("it", ["L'utente non mangia glutine e ama il risotto", "L'utente ama il risotto ai funghi"], "L'utente non mangia glutine e ama il risotto ai funghi", []),
    ("it", ["La riunione è prima di pranzo", "Prima di pranzo si tiene la riunione del gruppo"], "La riunione del gruppo si tiene prima di pranzo", []),
    ("it", ["Non lavora mai il lunedì", "L'utente il lunedì non lavora mai, il martedì sì"], "L'utente non lavora mai il lunedì, il martedì sì", []),
    ("it", ["Il gatto dorme sul divano", "Il gatto grigio dorme sempre sul divano"], "Il gatto grigio dorme sempre sul divano", []),
    # Dutch
    ("nl", ["De gebruiker eet geen vis", "Hij eet geen vis, maar wel vlees"], "De gebruiker eet geen vis, maar wel vlees", []),
    ("nl", ["De fiets staat achter het huis", "Achter het huis staat de fiets, op slot"], "De fiets staat op slot achter het huis", []),
    ("nl", ["De winkel is pas na de middag open", "Na de middag gaat de winkel pas open"], "De winkel gaat pas na de middag open", []),
    # Swedish
    ("sv", ["Användaren äter inte nötter men gillar bär", "Hon gillar bär, inte nötter"], "Användaren äter inte nötter men gillar bär", []),
    ("sv", ["Hunden sover i sin korg", "Hunden sover alltid i sin korg vid dörren"], "Hunden sover alltid i sin korg vid dörren", []),
    # Polish
    ("pl", ["Użytkownik nie pije mleka", "Użytkownik nie pije mleka i nie je sera"], "Użytkownik nie pije mleka i nie je sera", []),
    ("pl", ["Klucze leżą w szufladzie", "Klucze od piwnicy leżą w szufladzie w kuchni"], "Klucze od piwnicy leżą w szufladzie w kuchni", []),
    # Russian
    ("ru", ["Пользователь не пьёт молоко. Пользователь пьёт чай", "Он пьёт чай с лимоном и не пьёт молоко"], "Пользователь не пьёт молоко и пьёт чай с лимоном", []),
    ("ru", ["Собрание проходит после обеда", "После обеда проходит собрание отдела"], "Собрание отдела проходит после обеда", []),
    ("ru", ["Ключи лежат в верхнем ящике стола", "Ключи от дома в верхнем ящике"], "Ключи от дома лежат в верхнем ящике стола", []),
    ("ru", ["Пользователь всегда ездит на поезде", "Он всегда ездит в город на поезде"], "Пользователь всегда ездит в город на поезде", []),
    # Chinese
    ("zh", ["用户不吃海鲜。用户不喝牛奶", "用户对海鲜没兴趣，也不喝牛奶"], "用户不吃海鲜，对海鲜没兴趣，也不喝牛奶", []),
    ("zh", ["用户饭后散步", "用户每天饭后在公园散步"], "用户每天饭后在公园散步", []),
    ("zh", ["钥匙放在门口的抽屉里", "门口的抽屉里放着车钥匙"], "车钥匙放在门口的抽屉里", []),
    ("zh", ["用户总是坐火车上班", "用户上班总是坐早班火车"], "用户上班总是坐早班火车", []),
    # Japanese
    ("ja", ["ユーザーは牛乳を飲まない。パンは食べる", "ユーザーはパンを食べるが、牛乳は飲まない"], "ユーザーは牛乳を飲まないが、パンは食べる", []),
    ("ja", ["会議は昼食の後にある", "昼食の後に部の会議がある"], "昼食の後に部の会議がある", []),
    ("ja", ["鍵は台所の引き出しにある", "車の鍵は台所の引き出しに入っている"], "車の鍵は台所の引き出しにある", []),
    # Korean
    ("ko", ["사용자는 우유를 마시지 않는다", "사용자는 우유를 마시지 않고 차를 마신다"], "사용자는 우유를 마시지 않고 차를 마신다", []),
    ("ko", ["회의는 점심 후에 있다", "점심 후에 부서 회의가 있다"], "부서 회의는 점심 후에 있다", []),
    ("ko", ["열쇠는 부엌 서랍에 있다", "자동차 열쇠는 부엌 서랍에 있다"], "자동차 열쇠는 부엌 서랍에 있다", []),
    # Turkish
    ("tr", ["Kullanıcı süt içmiyor, çay içiyor", "Kullanıcı sabahları çay içiyor"], "Kullanıcı süt içmiyor, sabahları çay içiyor", []),
    ("tr", ["Anahtar mutfaktaki çekmecede", "Arabanın anahtarı mutfaktaki çekmecede duruyor"], "Arabanın anahtarı mutfaktaki çekmecede duruyor", []),
]
"""Merges that lose nothing: in thirteen languages, with denials, relations and paraphrase."""

FALSE: list[Merge] = [
    # a reason that nobody gave, what holds now untold, a relative for another, a change the wrong way round
    ("en", ["The choir meets on Mondays", "On Mondays the choir meets in the old mill"], "The choir meets on Mondays in the old mill because the heating was broken", []),
    ("de", ["Der Nutzer trinkt Hafermilch", "Er trinkt Hafermilch zum Frühstück"], "Der Nutzer trinkt zum Frühstück Hafermilch, weil sie billiger war", []),
    ("ja", ["ユーザーは辞書を使う", "ユーザーは紙の辞書を使う"], "ユーザーは目が疲れるため、紙の辞書を使う", []),
    ("ko", ["출근할 때 기차를 탄다", "이제는 기차 대신 자전거로 출근한다"], "사용자는 기차로 출근한다", [("기차", 2)]),
    ("en", ["Her nephew Ivo is her son's friend", "Ivo moved on and sings with Cantabile now"], "Her daughter's friend Ivo now sings with Cantabile", [("son", 2)]),
    ("ja", ["窓口は田中さん", "窓口が田中さんから鈴木さんに変わった"], "窓口は鈴木さんから田中さんに変わった", [("田中", 2)]),
    # a denial that vanished, came, or went to another
    ("en", ["Anna does not use Docker. Ben does not use Vagrant", "Anna does not use Docker and Ben does not use Vagrant"], "Anna does not use Docker. Ben uses Vagrant", []),
    ("en", ["The gate is not locked. The shed is not heated", "The gate is not locked, the shed is not heated"], "The gate is locked. The shed is not heated", []),
    ("en", ["The user does not smoke. She does not eat fish", "She does not smoke and does not eat fish"], "The user does not smoke and eats fish", []),
    ("en", ["The old backup is not encrypted, the new backup is encrypted", "The new backup is encrypted"], "The old backup is encrypted, the new backup is not encrypted", []),
    ("en", ["The lift works, the stairs are not lit", "The lift works and the stairs are not lit"], "The lift does not work, the stairs are not lit", []),
    ("en", ["The user never works on Sundays. She never travels by plane", "Never on Sundays, never by plane"], "The user never works on Sundays. She travels by plane", []),
    ("de", ["Der Keller ist nicht trocken. Der Dachboden ist nicht isoliert", "Der Keller ist nicht trocken, der Dachboden nicht isoliert"], "Der Keller ist nicht trocken. Der Dachboden ist isoliert", []),
    ("de", ["Sie trinkt keine Milch und isst keinen Käse", "Sie isst keinen Käse und trinkt keine Milch"], "Sie trinkt Milch und isst keinen Käse", []),
    ("fr", ["Le client ne mange pas de poisson. Il ne boit pas de lait", "Le client ne mange pas de poisson et ne boit pas de lait"], "Le client ne mange pas de poisson. Il boit du lait", []),
    ("es", ["El usuario no fuma. La usuaria no conduce de noche", "El usuario no fuma y la usuaria no conduce de noche"], "El usuario no fuma. La usuaria conduce de noche", []),
    ("pt", ["O usuário não come carne. Ele mora no centro", "Ele mora no centro e não come carne"], "O usuário come carne. Ele mora no centro", []),
    ("pt", ["O cliente não bebe café. Ele trabalha no porto", "O cliente não bebe café e trabalha no porto"], "O cliente bebe café e trabalha no porto", []),
    ("it", ["L'utente non guida. L'utente non mangia pesce", "L'utente non guida e non mangia pesce"], "L'utente non guida e mangia pesce", []),
    ("nl", ["De gebruiker rookt niet. De gebruiker eet geen vis", "Hij rookt niet en eet geen vis"], "De gebruiker rookt niet. De gebruiker eet vis", []),
    ("sv", ["Användaren röker inte. Användaren äter inte fisk", "Hon röker inte och äter inte fisk"], "Användaren röker inte. Användaren äter fisk", []),
    ("pl", ["Użytkownik nie pije mleka. Użytkownik nie je ryb", "Nie pije mleka i nie je ryb"], "Użytkownik nie pije mleka. Użytkownik je ryby", []),
    ("ru", ["Пользователь не курит. Пользователь не ест рыбу", "Он не курит и не ест рыбу"], "Пользователь не курит. Пользователь ест рыбу", []),
    ("zh", ["用户不抽烟。用户不吃鱼", "用户不抽烟，也不吃鱼"], "用户不抽烟。用户吃鱼", []),
    ("ja", ["ユーザーは魚を食べない。牛乳を飲まない", "ユーザーは魚を食べないし、牛乳も飲まない"], "ユーザーは魚を食べない。牛乳を飲む", []),
    ("ko", ["사용자는 생선을 먹지 않는다. 사용자는 우유를 마시지 않는다", "사용자는 생선을 먹지 않고, 우유를 마시지 않는다"], "사용자는 생선을 먹지 않는다. 사용자는 우유를 마신다", []),
    # a word lost, with nothing in its place
    ("en", ["The red door is locked", "The door is locked"], "The door is locked", []),
    ("en", ["The user is allergic to raw tomatoes", "The user is allergic to tomatoes"], "The user is allergic to tomatoes", []),
    ("en", ["Her brother is moving in with a deaf cat", "Her brother is moving in with a cat"], "Her brother is moving in with a cat", []),
    ("en", ["Only signed releases are deployed to production", "Releases are deployed to production"], "Releases are deployed to production", []),
    ("de", ["Die rote Tür ist verschlossen", "Die Tür ist verschlossen"], "Die Tür ist verschlossen", []),
    ("de", ["Der Nutzer verträgt rohe Tomaten schlecht", "Der Nutzer verträgt Tomaten schlecht"], "Der Nutzer verträgt Tomaten schlecht", []),
    ("fr", ["La porte rouge est fermée à clé", "La porte est fermée à clé"], "La porte est fermée à clé", []),
    ("es", ["La puerta trasera está cerrada con llave", "La puerta está cerrada con llave"], "La puerta está cerrada con llave", []),
    ("pt", ["O gato surdo dorme na cozinha", "O gato dorme na cozinha"], "O gato dorme na cozinha", []),
    ("it", ["La porta rossa è chiusa a chiave", "La porta è chiusa a chiave"], "La porta è chiusa a chiave", []),
    ("nl", ["De rode deur zit op slot", "De deur zit op slot"], "De deur zit op slot", []),
    ("ru", ["Красная дверь заперта на замок", "Дверь заперта на замок"], "Дверь заперта на замок", []),
    ("zh", ["用户对生番茄过敏", "用户对番茄过敏"], "用户对番茄过敏", []),
    ("ja", ["赤いドアは鍵がかかっている", "ドアは鍵がかかっている"], "ドアは鍵がかかっている", []),
    ("ko", ["빨간 문은 잠겨 있다", "문은 잠겨 있다"], "문은 잠겨 있다", []),
    # a word exchanged for one that no source has
    ("en", ["The red door is locked at night", "At night the red door stays locked"], "The blue door is locked at night", []),
    ("en", ["The user hates loud music in the car", "Loud music in the car annoys the user, she hates it"], "The user loves loud music in the car", []),
    ("de", ["Die rote Tür ist nachts verschlossen", "Nachts bleibt die rote Tür verschlossen"], "Die blaue Tür ist nachts verschlossen", []),
    ("fr", ["La porte rouge est fermée la nuit", "La nuit, la porte rouge reste fermée"], "La porte bleue est fermée la nuit", []),
    ("es", ["La puerta roja está cerrada por la noche", "Por la noche la puerta roja queda cerrada"], "La puerta roja está abierta por la noche", []),
    ("ru", ["Красная дверь ночью заперта", "Ночью красная дверь остаётся заперта"], "Синяя дверь ночью заперта", []),
    ("zh", ["用户晚上喝绿茶", "用户每天晚上都喝绿茶"], "用户每天晚上都喝红酒", []),
    # a relation turned round
    ("en", ["The user takes coffee with milk", "Her coffee is with milk and cinnamon"], "The user takes coffee without milk, with cinnamon", []),
    ("en", ["Take the pills before meals", "The pills are to be taken before meals"], "Take the pills after meals", []),
    ("en", ["Backups are always verified", "The nightly backups are always verified"], "The nightly backups are never verified", []),
    ("en", ["Backups are always verified", "The nightly backups are always verified"], "The nightly backups are sometimes verified", []),
    ("en", ["The tank holds more than enough fuel", "There is more than enough fuel in the tank"], "The tank holds less than enough fuel", []),
    ("en", ["The shop is closed until noon", "Until noon the shop is closed"], "The shop is closed from noon", []),
    ("en", ["Reviews must be done by two people", "Every change must be reviewed by two people"], "Every change may be reviewed by two people", []),
    ("en", ["The box stands below the window", "The tool box stands below the window"], "The tool box stands above the window", []),
    ("de", ["Die Tabletten werden vor dem Essen genommen", "Vor dem Essen werden die Tabletten genommen"], "Die Tabletten werden nach dem Essen genommen", []),
    ("de", ["Sie trinkt Kaffee mit Milch", "Sie trinkt ihren Kaffee immer mit Milch"], "Sie trinkt ihren Kaffee immer ohne Milch", []),
    ("de", ["Die Prüfung dauert mehr als einen Tag", "Mehr als einen Tag dauert die Prüfung"], "Die Prüfung dauert weniger als einen Tag", []),
    ("de", ["Die Haustür ist immer offen", "Die Haustür ist im Sommer immer offen"], "Die Haustür ist im Sommer manchmal offen", []),
    ("fr", ["Les comprimés se prennent avant le repas", "Avant le repas, prendre les comprimés"], "Les comprimés se prennent après le repas", []),
    ("fr", ["Elle boit son café avec du lait", "Elle boit toujours son café avec du lait"], "Elle boit toujours son café sans lait", []),
    ("es", ["Las pastillas se toman antes de comer", "Antes de comer se toman las pastillas"], "Las pastillas se toman después de comer", []),
    ("es", ["Toma el café con leche", "La usuaria toma el café con leche"], "La usuaria toma el café sin leche", []),
    ("pt", ["Os comprimidos são tomados antes do jantar", "Antes do jantar ela toma os comprimidos"], "Ela toma os comprimidos depois do jantar", []),
    ("it", ["Le pillole si prendono prima dei pasti", "Prima dei pasti si prendono le pillole"], "Le pillole si prendono dopo i pasti", []),
    ("nl", ["De pillen worden voor het eten genomen", "Voor het eten neemt hij de pillen"], "Hij neemt de pillen na het eten", []),
    ("ru", ["Таблетки принимают до еды", "До еды принимают таблетки"], "Таблетки принимают после еды", []),
    ("ru", ["Она пьёт чай с молоком", "Она всегда пьёт чай с молоком"], "Она всегда пьёт чай без молока", []),
    ("zh", ["用户饭前吃药", "用户每天饭前吃药"], "用户每天饭后吃药", []),
    ("ja", ["薬は食事の前に飲む", "食事の前に薬を飲む"], "薬は食事の後に飲む", []),
    ("ko", ["약은 식사 전에 먹는다", "식사 전에 약을 먹는다"], "약은 식사 후에 먹는다", []),
    ("pl", ["Tabletki bierze się przed jedzeniem", "Przed jedzeniem bierze się tabletki"], "Tabletki bierze się po jedzeniu", []),
    ("sv", ["Tabletterna tas före maten", "Före maten tas tabletterna"], "Tabletterna tas efter maten", []),
    ("tr", ["İlaçlar yemekten önce alınır", "Yemekten önce ilaçlar alınır"], "İlaçlar yemekten sonra alınır", []),
    # a German name that went, or another that looks much like it
    ("de", ["Martina holt den Schlüssel von der Nachbarin", "Der Schlüssel liegt bei der Nachbarin im Keller, sagt Martina"], "Martin holt den Schlüssel von der Nachbarin, er liegt im Keller", []),
    ("de", ["Karl Weber repariert die Heizung im Keller", "Die Heizung im Keller ist seit Montag kaputt"], "Die seit Montag kaputte Heizung im Keller wird von Weber repariert", []),
]
"""Merges that say what no source says, or leave out what one does."""

UNSEEN_FAIR: list[Merge] = [
    ("en", ["The user rarely eats out during the week", "During the week she mostly cooks at home"], "During the week the user rarely eats out and mostly cooks at home", []),
    ("en", ["The wifi in the attic is weak", "Wifi signal in the attic is too weak for calls"], "The wifi signal in the attic is too weak for calls", []),
    ("en", ["Her grandmother taught her to knit", "She learned knitting from her grandmother"], "Her grandmother taught the user to knit", []),
    ("en", ["The customer wants invoices as PDF files", "Invoices should be sent to the customer as PDF"], "The customer wants invoices to be sent as PDF files", []),
    ("en", ["The bakery opens at 7, it is closed on Mondays", "The bakery is not open on Mondays"], "The bakery opens at 7 and is closed on Mondays, not open then", []),
    ("en", ["Do not restart the queue during business hours", "The queue must not be restarted in business hours, it loses jobs"], "The queue must not be restarted during business hours because it loses jobs", []),
    ("en", ["The user is learning Danish with an app", "Uses an app to learn Danish, ten minutes every day"], "The user is learning Danish with an app, ten minutes every day", []),
    ("en", ["Plants on the balcony need water twice a week", "Water the balcony plants twice a week"], "The plants on the balcony need water twice a week", []),
    ("en", ["The user hardly sleeps when it is hot", "In hot weather the user sleeps badly"], "The user sleeps badly in hot weather", []),
    ("en", ["The parcel goes to the neighbour if nobody is home", "If nobody is at home, leave the parcel with the neighbour"], "If nobody is at home, the parcel goes to the neighbour", []),
    ("de", ["Die Nutzerin fährt im Winter nicht mit dem Rad", "Im Winter nimmt sie statt des Rads den Bus"], "Im Winter fährt die Nutzerin nicht mit dem Rad, sondern nimmt den Bus", []),
    ("de", ["Das Auto muss im Mai zum TÜV", "Im Mai ist der TÜV für das Auto fällig"], "Im Mai ist der TÜV für das Auto fällig", []),
    ("de", ["Der Chef möchte den Bericht immer montags", "Den Bericht bekommt der Chef jeden Montag"], "Der Chef bekommt den Bericht jeden Montag", []),
    ("de", ["Ihr Bruder wohnt im selben Haus", "Im selben Haus wohnt auch ihr Bruder, ganz oben"], "Ihr Bruder wohnt im selben Haus ganz oben", []),
    ("fr", ["La cliente ne veut plus recevoir de publicité", "Elle ne souhaite pas de publicité par courrier"], "La cliente ne veut plus recevoir de publicité par courrier", []),
    ("fr", ["Le chien a peur de l'orage", "Pendant l'orage, le chien a peur et se cache"], "Le chien a peur de l'orage et se cache", []),
    ("fr", ["Le train de nuit est souvent en retard", "Souvent, le train de nuit arrive en retard"], "Le train de nuit arrive souvent en retard", []),
    ("es", ["La reunión no es los lunes, es los martes", "Los martes hay reunión de equipo"], "La reunión de equipo no es los lunes sino los martes", []),
    ("es", ["El perro duerme fuera en verano", "En verano el perro siempre duerme fuera de casa"], "En verano el perro siempre duerme fuera de casa", []),
    ("pt", ["A chave fica no armário da cozinha", "No armário da cozinha há uma chave da garagem"], "A chave da garagem fica no armário da cozinha", []),
    ("pt", ["O cliente não gosta de ligações no fim do dia", "Ele prefere mensagens, não ligações"], "O cliente não gosta de ligações no fim do dia e prefere mensagens", []),
    ("it", ["La caldaia non funziona bene d'inverno", "D'inverno la caldaia spesso non funziona"], "D'inverno la caldaia spesso non funziona bene", []),
    ("it", ["L'utente ha paura di volare", "Ha paura di volare e prende il treno"], "L'utente ha paura di volare e prende il treno", []),
    ("nl", ["De klant wil geen telefoontjes na het werk", "Na het werk liever geen telefoontjes, wel mail"], "De klant wil na het werk geen telefoontjes, wel mail", []),
    ("sv", ["Bilen startar inte när det är kallt", "När det är kallt startar inte bilen utan hjälp"], "Bilen startar inte utan hjälp när det är kallt", []),
    ("pl", ["Sklep jest zamknięty w niedziele", "W niedziele sklep przy rynku jest zamknięty"], "Sklep przy rynku jest zamknięty w niedziele", []),
    ("ru", ["Кот не любит гостей", "Кот не любит гостей и прячется под кроватью"], "Кот не любит гостей и прячется под кроватью", []),
    ("ru", ["Отчёт нужен каждую пятницу", "Каждую пятницу начальник ждёт отчёт"], "Начальник ждёт отчёт каждую пятницу", []),
    ("zh", ["办公室的空调坏了", "办公室空调坏了，还没修好"], "办公室的空调坏了，还没修好", []),
    ("zh", ["用户下周要去出差", "用户下周出差，去三天"], "用户下周要出差，去三天", []),
    ("ja", ["猫は夜に外へ出ない", "夜、猫は外へ出ないで部屋で寝る"], "猫は夜に外へ出ないで部屋で寝る", []),
    ("ko", ["고양이는 손님을 싫어한다", "고양이는 손님을 싫어해서 침대 밑에 숨는다"], "고양이는 손님을 싫어해서 침대 밑에 숨는다", []),
    ("tr", ["Dükkan pazar günleri kapalı", "Köşedeki dükkan pazar günleri kapalı"], "Köşedeki dükkan pazar günleri kapalı", []),
]
"""Further merges that lose nothing, written when the check stood: no part of it was chosen by them."""

UNSEEN_FALSE: list[Merge] = [
    ("en", ["The garage is not insured. The cellar is damp", "The cellar is damp, the garage is not insured"], "The garage is insured. The cellar is not damp", []),
    ("en", ["The intern has no access to payroll. The auditor has access to payroll", "Payroll: the intern has no access"], "The intern has access to payroll. The auditor has no access to payroll", []),
    ("en", ["The stove does not switch off by itself. The fan does not either", "The stove and the fan do not switch off by themselves"], "The stove switches off by itself. The fan does not", []),
    ("en", ["Emergency calls are answered in the evening", "Calls are answered in the evening by Ruth"], "Calls are answered in the evening by Ruth", []),
    ("en", ["Guests may bring small dogs", "Guests may bring dogs to the party"], "Guests may bring dogs to the party", []),
    ("en", ["The ladder is stored behind the shed", "Behind the shed the wooden ladder is stored"], "The wooden ladder is stored behind the barn", []),
    ("en", ["Wash the wool sweater by hand, outside the machine", "The wool sweater is washed outside the machine"], "The wool sweater is washed inside the machine", []),
    ("de", ["Der Aufzug fährt nicht nachts. Die Rolltreppe fährt nicht sonntags", "Aufzug nicht nachts, Rolltreppe nicht sonntags"], "Der Aufzug fährt nicht nachts. Die Rolltreppe fährt sonntags", []),
    ("de", ["Frische Eier liegen im Kühlschrank links", "Im Kühlschrank links liegen frische Eier"], "Im Kühlschrank rechts liegen frische Eier", []),
    ("de", ["Der Hund darf keine Schokolade fressen, auch keine Trauben", "Der Hund darf keine Schokolade und keine Trauben fressen"], "Der Hund darf keine Schokolade, aber Trauben fressen", []),
    ("fr", ["Les visiteurs doivent signer le registre", "Les visiteurs doivent toujours signer le registre"], "Les visiteurs peuvent toujours signer le registre", []),
    ("fr", ["La petite clé ouvre le coffre", "La clé ouvre le coffre du bureau"], "La clé ouvre le coffre du bureau", []),
    ("es", ["El ascensor no funciona. La escalera no tiene luz", "El ascensor no funciona y la escalera no tiene luz"], "El ascensor no funciona. La escalera tiene luz", []),
    ("es", ["La farmacia abre hasta las ocho", "La farmacia del barrio abre hasta las ocho"], "La farmacia del barrio abre desde las ocho", []),
    ("pt", ["O elevador não funciona no domingo. A escada não tem luz", "Domingo o elevador não funciona, e a escada não tem luz"], "O elevador não funciona no domingo. A escada tem luz", []),
    ("it", ["La piscina è sempre aperta", "La piscina in centro è sempre aperta"], "La piscina in centro è talvolta aperta", []),
    ("nl", ["De lift werkt niet, de trap heeft geen licht", "De lift werkt niet en de trap heeft geen licht"], "De lift werkt niet, de trap heeft licht", []),
    ("ru", ["Лифт не работает, на лестнице нет света", "Лифт не работает. На лестнице нет света"], "Лифт работает, на лестнице нет света", []),
    ("zh", ["电梯晚上不开。大门白天不锁", "电梯晚上不开，大门白天不锁"], "电梯晚上不开。大门白天锁", []),
    ("ja", ["犬は左の部屋で寝る", "犬は夜、左の部屋で寝る"], "犬は夜、右の部屋で寝る", []),
    ("ko", ["개는 왼쪽 방에서 잔다", "밤에 개는 왼쪽 방에서 잔다"], "밤에 개는 오른쪽 방에서 잔다", []),
    ("pl", ["Winda nie działa. Schody nie są oświetlone", "Winda nie działa, schody nie są oświetlone"], "Winda nie działa. Schody są oświetlone", []),
]
"""Further merges that say something else, written when the check stood."""
# fmt: on
