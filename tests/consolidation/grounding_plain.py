"""What models write of a line in plain words, true and false, in windows of that one line.

As one writes who saw neither the code nor a rule of it: "User …" without an article, a time told in another way, who is
whose. Decision 0135 has the figures at first sight.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - lines as people write them, in several scripts

TRUE: dict[str, list[str]] = {
    "I'm vegetarian and I work night shifts at the harbour.": [
        "User is vegetarian.",
        "User works night shifts at the harbour.",
        "The user works nights at the harbour.",
    ],
    "My daughter Mia starts school in September, she's six.": [
        "User's daughter Mia starts school in September.",
        "User has a daughter named Mia who is six years old.",
        "User's daughter is named Mia.",
        "Mia is six.",
        "The user's six-year-old daughter Mia will start school in September.",
    ],
    "Please call me Sam, not Samuel.": [
        "User prefers to be called Sam.",
        "User wants to be called Sam instead of Samuel.",
        "The user prefers the name Sam over Samuel.",
    ],
    "We're flying to Japan in spring 2027, probably Kyoto first.": [
        "User plans to visit Japan in spring 2027.",
        "User is planning a trip to Japan in spring 2027, probably starting in Kyoto.",
        "The user and others will fly to Japan in spring 2027.",
    ],
    "I've been a nurse at St. Mary's for ten years.": [
        "User is a nurse at St. Mary's.",
        "User has worked as a nurse at St. Mary's for ten years.",
        "User has 10 years of experience as a nurse.",
    ],
    "My wife hates cilantro so never put it in recipes.": [
        "User's wife hates cilantro.",
        "User does not want cilantro in recipes.",
        "User's wife dislikes cilantro; avoid it in recipes.",
        "The user is married.",
    ],
    "I lost my job at Siemens last week and I'm looking for something in Munich.": [
        "User lost their job at Siemens last week.",
        "User is looking for a job in Munich.",
        "User used to work at Siemens.",
        "User is unemployed.",
    ],
    "ok so my budget is 1.5k a month for rent": [
        "User's rent budget is 1.5k a month.",
        "User has a monthly rent budget of 1,500.",
        "User's budget for rent is 1.5k per month.",
    ],
    "I run every morning except Sundays.": [
        "User runs every morning except on Sundays.",
        "User goes running every morning but not on Sundays.",
    ],
    "our cat Luna got sick yesterday, vet says kidney problem": [
        "User has a cat named Luna.",
        "User's cat Luna got sick yesterday.",
        "User's cat Luna has a kidney problem according to the vet.",
        "The vet said that Luna has a kidney problem.",
    ],
    "Ich bin allergisch gegen Nüsse und wohne in Köln.": [
        "Der Nutzer ist allergisch gegen Nüsse.",
        "Der Nutzer wohnt in Köln.",
        "Nutzer lebt in Köln.",
        "Der Benutzer hat eine Nussallergie.",
    ],
    "Meine Schwester Lea heiratet im Juni in Bonn.": [
        "Die Schwester des Nutzers, Lea, heiratet im Juni in Bonn.",
        "Lea heiratet im Juni.",
        "Der Nutzer hat eine Schwester namens Lea.",
    ],
    "Je suis infirmière à Lille et j'ai deux chats.": [
        "L'utilisatrice est infirmière à Lille.",
        "L'utilisateur a deux chats.",
        "L'utilisatrice possède deux chats.",
        "L'utilisateur travaille comme infirmière à Lille.",
    ],
    "Je déteste les olives et je pars en vacances en août.": [
        "L'utilisateur déteste les olives.",
        "L'utilisateur part en vacances en août.",
        "L'utilisateur n'aime pas les olives.",
    ],
    "Trabajo como profesora en Sevilla y odio madrugar.": [
        "La usuaria trabaja como profesora en Sevilla.",
        "El usuario odia madrugar.",
        "El usuario es profesor en Sevilla.",
        "La usuaria no soporta madrugar.",
    ],
    "Mi hermano Luis vive en Lima desde 2020.": [
        "El hermano del usuario, Luis, vive en Lima desde 2020.",
        "Luis vive en Lima.",
        "El usuario tiene un hermano llamado Luis.",
    ],
    "Abito a Torino con mia figlia Giulia.": [
        "L'utente abita a Torino con la figlia Giulia.",
        "L'utente vive a Torino.",
        "L'utente ha una figlia di nome Giulia.",
    ],
    "Moro no Porto e trabalho num banco.": [
        "O usuário mora no Porto.",
        "O utilizador trabalha num banco.",
        "O usuário trabalha em um banco.",
    ],
    "Ik woon in Gent en ik ben veganist.": [
        "De gebruiker woont in Gent.",
        "De gebruiker is veganist.",
        "Gebruiker woont in Gent.",
    ],
    "Jag bor i Malmö och jobbar som snickare.": [
        "Användaren bor i Malmö.",
        "Användaren jobbar som snickare.",
        "Användaren är snickare.",
    ],
    "Я живу в Казани и работаю врачом.": [
        "Пользователь живёт в Казани.",
        "Пользователь работает врачом.",
        "Пользователь врач.",
    ],
    "저는 부산에 살고 간호사로 일해요.": [
        "사용자는 부산에 산다.",
        "사용자는 간호사로 일한다.",
        "사용자는 부산에 거주하는 간호사이다.",
    ],
    "大阪に住んでいて、看護師をしています。": [
        "ユーザーは大阪に住んでいる。",
        "ユーザーは看護師をしている。",
        "ユーザーは看護師である。",
    ],
    "我住在成都，是一名护士。": ["用户住在成都。", "用户是一名护士。", "用户是护士，住在成都。"],
    "I quit smoking in January.": [
        "User quit smoking in January.",
        "User no longer smokes.",
        "User stopped smoking in January.",
        "The user is a former smoker.",
    ],
    "I have a meeting with Dr. Patel on Friday at 3pm about my knee": [
        "User has a meeting with Dr. Patel on Friday at 3 pm about their knee.",
        "User has an appointment with Dr. Patel on Friday at 15:00.",
        "User's appointment with Dr. Patel is about their knee.",
    ],
    "can you remind me that my car is a 2015 Skoda Octavia diesel?": [
        "User's car is a 2015 Skoda Octavia diesel.",
        "User drives a 2015 Skoda Octavia.",
        "User has a diesel car.",
    ],
    "Anna and I broke up two months ago, I moved back to my parents in Leeds": [
        "User and Anna broke up two months ago.",
        "User moved back to their parents in Leeds.",
        "User lives with their parents in Leeds.",
        "User broke up with Anna two months ago.",
    ],
    "Just adopted a rescue greyhound called Biscuit, she's terrified of the vacuum.": [
        "User recently adopted a rescue greyhound named Biscuit.",
        "User has a dog called Biscuit.",
        "Biscuit is afraid of the vacuum.",
        "Biscuit is a rescue greyhound.",
        "User's greyhound Biscuit is terrified of vacuum cleaners.",
    ],
    "I take 20mg of lisinopril every morning for blood pressure": [
        "User takes 20 mg of lisinopril every morning.",
        "User takes lisinopril for blood pressure.",
        "User has high blood pressure.",
        "User's medication: lisinopril 20 mg daily in the morning.",
    ],
    "My flight lands at 6:45am on the 14th, can you plan around that?": [
        "User's flight lands at 6:45 AM on the 14th.",
        "User asked for planning around the flight's arrival.",
    ],
    "we don't eat pork at home, it's a religious thing": [
        "User's household does not eat pork for religious reasons.",
        "User doesn't eat pork.",
        "No pork at home.",
        "The user avoids pork.",
    ],
    "my son's teacher Mrs. Alvarez wants us to read 20 minutes a night": [
        "Mrs. Alvarez is the teacher of user's son.",
        "User's son has a teacher named Mrs. Alvarez.",
        "Mrs. Alvarez wants the user's family to read for 20 minutes each night.",
        "User has a son.",
    ],
    "I'm training for the Berlin marathon, goal is under 4 hours, right now I'm at about 30km a week": [
        "User is training for the Berlin marathon.",
        "User's goal for the marathon is under 4 hours.",
        "User currently runs about 30 km per week.",
        "User wants to finish the Berlin marathon in less than four hours.",
    ],
    "honestly I prefer emails over calls, calls stress me out": [
        "User prefers emails over calls.",
        "User prefers email to phone calls because calls stress them out.",
        "Calls stress the user.",
        "User does not like phone calls.",
    ],
    "We bought the house on Elm Street for 450k but the roof needs replacing": [
        "User bought a house on Elm Street for 450k.",
        "The house cost 450,000.",
        "The roof of user's house needs replacing.",
        "User owns a house on Elm Street.",
    ],
    "I used to live in Austin but I'm in Denver now since March": [
        "User lives in Denver since March.",
        "User moved from Austin to Denver in March.",
        "User previously lived in Austin.",
        "User used to live in Austin and now lives in Denver.",
    ],
    "not a fan of horror movies, more into documentaries and slow sci-fi": [
        "User does not like horror movies.",
        "User prefers documentaries and slow sci-fi over horror movies.",
        "User is into documentaries.",
        "User is not a fan of horror movies.",
    ],
    "My sister in law Priya is pregnant with twins, due in July": [
        "User's sister-in-law Priya is pregnant with twins.",
        "Priya is due in July.",
        "User's sister-in-law is expecting twins in July.",
    ],
    "I finally got promoted to senior engineer at Shopify last Monday!!": [
        "User was promoted to senior engineer at Shopify.",
        "User works at Shopify as a senior engineer.",
        "User got promoted last Monday.",
        "User is a senior engineer.",
    ],
    "don't put emojis in your answers please, and keep it short": [
        "User does not want emojis in answers.",
        "User prefers short answers.",
        "User asked for answers without emojis.",
        "User wants short answers with no emojis.",
    ],
    "Rent went from 900 to 1050 so we're looking at places in Leith": [
        "User's rent increased from 900 to 1,050.",
        "User is looking at places in Leith.",
        "User's rent is 1050.",
    ],
    "Ich arbeite seit drei Jahren als Tischler in Graz und will mich selbstständig machen.": [
        "Der Nutzer arbeitet seit drei Jahren als Tischler in Graz.",
        "Der Nutzer will sich selbstständig machen.",
        "Nutzer ist Tischler.",
        "Der Nutzer möchte sich selbstständig machen.",
    ],
    "Mein Sohn Jonas hat am Samstag Geburtstag, er wird acht.": [
        "Der Sohn des Nutzers, Jonas, wird am Samstag acht.",
        "Jonas hat am Samstag Geburtstag.",
        "Der Nutzer hat einen Sohn namens Jonas.",
        "Jonas wird acht Jahre alt.",
    ],
    "Wir fahren lieber mit dem Zug als mit dem Auto in den Urlaub.": [
        "Der Nutzer fährt lieber mit dem Zug als mit dem Auto in den Urlaub.",
        "Der Nutzer bevorzugt den Zug gegenüber dem Auto.",
    ],
    "Ma fille Inès fait de l'équitation le mercredi.": [
        "La fille de l'utilisateur, Inès, fait de l'équitation le mercredi.",
        "Inès fait de l'équitation.",
        "L'utilisateur a une fille nommée Inès.",
    ],
    "Je ne bois pas d'alcool et je suis prof de maths au lycée.": [
        "L'utilisateur ne boit pas d'alcool.",
        "L'utilisateur est prof de maths au lycée.",
        "L'utilisateur est professeur de mathématiques.",
        "L'utilisateur enseigne les maths au lycée.",
    ],
    "Vivo con mi pareja Marta y nuestro perro Toby en Valencia.": [
        "El usuario vive con su pareja Marta y su perro Toby en Valencia.",
        "La pareja del usuario se llama Marta.",
        "El usuario tiene un perro llamado Toby.",
        "El usuario vive en Valencia.",
    ],
    "No puedo comer gluten, soy celíaca.": [
        "La usuaria no puede comer gluten.",
        "La usuaria es celíaca.",
        "El usuario es celíaco y no puede comer gluten.",
    ],
    "Lavoro come infermiera a Bologna e odio il caffè.": [
        "L'utente lavora come infermiera a Bologna.",
        "L'utente odia il caffè.",
        "L'utente non ama il caffè.",
        "L'utente è infermiera.",
    ],
    "Meu filho Tiago tem asma e usa bombinha.": [
        "O filho do usuário, Tiago, tem asma.",
        "Tiago usa bombinha.",
        "O usuário tem um filho chamado Tiago.",
    ],
    "Mijn vrouw Sanne werkt in het ziekenhuis en we hebben twee kinderen.": [
        "De vrouw van de gebruiker, Sanne, werkt in het ziekenhuis.",
        "De gebruiker heeft twee kinderen.",
        "Sanne werkt in het ziekenhuis.",
    ],
    "Min bror Erik flyttade till Oslo i januari.": ["Erik bor i Oslo.", "Användaren har en bror som heter Erik."],
    "Моя сестра Аня живёт в Перми, у неё двое детей.": [
        "Сестра пользователя Аня живёт в Перми.",
        "У Ани двое детей.",
        "У пользователя есть сестра Аня.",
    ],
    "여동생 이름은 수진이고 대전에서 대학교 다녀요.": [
        "사용자의 여동생 이름은 수진이다.",
        "수진은 대전에서 대학교에 다닌다.",
        "사용자에게는 수진이라는 여동생이 있다.",
    ],
    "妹は由美といって、名古屋の大学に通っています。": [
        "ユーザーの妹の名前は由美である。",
        "由美は名古屋の大学に通っている。",
        "ユーザーには由美という妹がいる。",
    ],
    "我妹妹叫小雨，在武汉上大学。": ["用户的妹妹叫小雨。", "小雨在武汉上大学。", "用户有一个叫小雨的妹妹。"],
    "We just moved to a flat in Gothenburg, third floor, no lift, which is hell with the pram.": [
        "User recently moved to a flat in Gothenburg.",
        "User lives on the third floor.",
        "The user's building has no lift.",
        "User has a pram.",
    ],
    "I teach Year 4 and this term I've got 31 kids, two of them with EHCPs": [
        "User teaches Year 4.",
        "User has 31 kids in class this term.",
        "Two of the user's pupils have EHCPs.",
        "User is a teacher.",
    ],
    "My dad had a stroke in November and lives with us now, so the spare room is his.": [
        "User's dad had a stroke in November.",
        "User's father lives with them.",
        "User's father had a stroke in November and now lives with the user.",
    ],
    "could you write shorter paragraphs? I'm dyslexic and long blocks swim": [
        "User is dyslexic.",
        "User wants shorter paragraphs.",
        "User prefers short paragraphs because they are dyslexic.",
        "Long blocks of text are hard for the user.",
    ],
    "I'm on a 2019 MacBook Pro with 16GB, macOS 13, and Docker eats all my RAM": [
        "User has a 2019 MacBook Pro with 16GB.",
        "Docker uses up all of user's RAM.",
        "User uses Docker on a MacBook Pro.",
    ],
    "Every second Thursday I volunteer at the food bank on Harrow Road.": [
        "User volunteers at the food bank on Harrow Road every second Thursday.",
        "User volunteers every other Thursday.",
        "User volunteers at a food bank.",
    ],
    "It's our 10th anniversary on June 5, Nadia loves jazz but can't stand crowds.": [
        "User's 10th anniversary is on June 5.",
        "Nadia loves jazz.",
        "Nadia can't stand crowds.",
        "Nadia dislikes crowds.",
        "User and Nadia have their 10th anniversary on June 5.",
    ],
    "no dairy for me please, I get migraines from cheese especially": [
        "User doesn't want dairy.",
        "User gets migraines from cheese.",
        "Cheese gives the user migraines.",
        "User avoids dairy because of migraines.",
    ],
    "Passed my driving test on the third try yesterday, now looking for a used Corsa under 5k": [
        "User passed their driving test yesterday.",
        "User passed the driving test on the third try.",
        "User is looking for a used Corsa under 5k.",
        "User wants to buy a used Corsa for less than 5,000.",
    ],
    "Ich habe letzten Monat bei Bosch gekündigt und fange im April bei einem Start-up in Leipzig an.": [
        "Der Nutzer hat letzten Monat bei Bosch gekündigt.",
        "Der Nutzer fängt im April bei einem Start-up in Leipzig an.",
        "Der Nutzer arbeitete früher bei Bosch.",
    ],
    "Meine Frau Katrin ist Vegetarierin, ich esse alles außer Pilzen.": [
        "Die Frau des Nutzers, Katrin, ist Vegetarierin.",
        "Der Nutzer isst alles außer Pilzen.",
        "Der Nutzer isst keine Pilze.",
    ],
    "On a adopté un chien la semaine dernière, il s'appelle Oslo et il a peur des voitures.": [
        "L'utilisateur a adopté un chien la semaine dernière.",
        "Le chien s'appelle Oslo.",
    ],
    "Soy alérgica a los frutos secos y mi hijo Mateo también.": [
        "La usuaria es alérgica a los frutos secos.",
        "El hijo de la usuaria se llama Mateo.",
    ],
    "저는 커피는 안 마시고 차만 마셔요. 회사는 판교에 있어요.": [
        "사용자는 커피를 마시지 않는다.",
        "사용자의 회사는 판교에 있다.",
    ],
    "来月から大阪支社に転勤です。妻は東京に残ります。": ["ユーザーは来月から大阪支社に転勤する。", "妻は東京に残る。"],
    "我下个月要去杭州出差，顺便看我大学同学老李。": [
        "用户下个月要去杭州出差。",
        "用户会去看大学同学老李。",
        "老李是用户的大学同学。",
    ],
    "I set my alarm for 5:30 because the ferry to work leaves at 6:10": [
        "User sets the alarm for 5:30.",
        "User takes a ferry to work.",
        "The ferry leaves at 6:10.",
        "User gets up at 5:30 because the ferry to work leaves at 6:10 AM.",
    ],
    "My therapist suggested journaling, I've done it 12 days in a row now!": [
        "User's therapist suggested journaling.",
        "User has journaled 12 days in a row.",
        "User has a therapist.",
        "User has been journaling for 12 days.",
    ],
    "I have two dogs and over fifty chickens.": ["User has over 50 chickens and two dogs."],
    "I eat everything except mushrooms and olives.": [
        "User eats everything except mushrooms and olives.",
        "User eats everything except olives.",
    ],
    "The shop closes at 20:00 and opens at 08:00.": [
        "The shop closes at 8 pm.",
        "The shop opens at 8 am.",
        "The shop closes at 8 pm and opens at 8 am.",
    ],
    "My alarm is at 6 and dinner at 18:00.": ["User's alarm is at 6 am.", "User's dinner is at 6 pm."],
    "My daughter in law school lives in Leeds.": ["User's daughter is in law school."],
    "My brother in law enforcement is a cop in Leeds.": ["User's brother is a cop in Leeds."],
    "I switched from Vim to Emacs.": ["User uses Emacs instead of Vim.", "User switched from Vim to Emacs."],
    "Min bror bor i København.": ["Brugerens bror bor i København."],
}
"""What is true of a line: said, or a conclusion."""

FALSE: dict[str, list[str]] = {
    "My meeting is at 3pm on Friday.": [
        "User's meeting is at 3 am on Friday.",
        "User's meeting is at 03:00 on Friday.",
        "User's meeting is at 4 pm on Friday.",
    ],
    "Um 15:30 kommt der Klempner.": ["Der Klempner kommt um 3:30 am.", "Der Klempner kommt um 16:30."],
    "Please call me Sam, not Samuel.": [
        "User wants to be called Samuel instead of Sam.",
        "User wants to be called Samuel.",
        "User prefers Samuel over Sam.",
    ],
    "I run every morning except Sundays.": [
        "User runs on Sundays.",
        "User runs every morning except on Mondays.",
        "User only runs on Sundays.",
    ],
    "I used to live in Austin but I'm in Denver now since March": [
        "User lives in Austin.",
        "User lives in Austin since March.",
        "User used to live in Denver.",
    ],
    "I live in Rome with my wife Ana and my son Luca in Oslo.": [
        "The user lives in Oslo.",
        "User lives in Oslo with Ana.",
    ],
    "I live in Rome, and my son Luca in Oslo.": ["The user lives in Oslo.", "Luca lives in Rome."],
    "My daughter Mia starts school in September, she's six.": [
        "Mia is seven.",
        "User is six.",
        "Mia is five years old.",
    ],
    "Abito a Torino con mia figlia Giulia, lei lavora a Milano.": [
        "L'utente vive a Milano.",
        "L'utente lavora a Milano.",
    ],
    "I don't drink coffee, I drink tea.": [
        "User drinks coffee, not tea.",
        "User drinks coffee rather than tea.",
        "User drinks coffee.",
    ],
    "honestly I prefer emails over calls": ["User prefers calls over emails."],
    "My sister in law Priya is pregnant with twins, due in July": [
        "User is pregnant with twins.",
        "User's sister is pregnant with twins.",
        "User is due in July.",
    ],
    "Vivo con mi pareja Marta en Sevilla, y mi hermano Luis en Valencia.": [
        "El usuario vive en Valencia.",
        "Luis vive en Sevilla.",
    ],
    "Mein Sohn Jonas hat am Samstag Geburtstag, er wird acht.": ["Jonas wird neun Jahre alt."],
    "We just moved to a flat in Gothenburg, third floor, no lift, which is hell with the pram.": [
        "User lives on the fourth floor.",
        "User's building has a lift.",
    ],
    "I teach Year 4 and this term I've got 31 kids, two of them with EHCPs": ["User teaches Year 5."],
    "My dad had a stroke in November and lives with us now, so the spare room is his.": [
        "User had a stroke in November."
    ],
    "could you write shorter paragraphs? I'm dyslexic and long blocks swim": ["User is not dyslexic."],
    "Every second Thursday I volunteer at the food bank on Harrow Road.": ["User volunteers on Fridays."],
    "It's our 10th anniversary on June 5, Nadia loves jazz but can't stand crowds.": [
        "Nadia loves crowds.",
        "User loves jazz.",
        "The anniversary is on June 10.",
    ],
    "no dairy for me please, I get migraines from cheese especially": ["User has no migraines."],
    "Meine Frau Katrin ist Vegetarierin, ich esse alles außer Pilzen.": ["Der Nutzer ist Vegetarier."],
    "On a adopté un chien la semaine dernière, il s'appelle Oslo et il a peur des voitures.": [
        "L'utilisateur a peur des voitures.",
        "L'utilisateur habite à Oslo.",
    ],
    "Soy alérgica a los frutos secos y mi hijo Mateo también.": ["Mateo no es alérgico a los frutos secos."],
    "저는 커피는 안 마시고 차만 마셔요. 회사는 판교에 있어요.": ["사용자는 커피를 마신다."],
    "I set my alarm for 5:30 because the ferry to work leaves at 6:10": [
        "The ferry leaves at 5:30.",
        "User's alarm is at 6:10.",
    ],
    "My therapist suggested journaling, I've done it 12 days in a row now!": [
        "User's therapist has journaled for 12 days.",
        "User suggested journaling.",
    ],
    "I will be in Lisbon over Christmas and my sister won't come.": ["User will not be in Lisbon over Christmas."],
    "The shop closes at 20:00 and opens at 08:00.": [
        "The shop closes at 8 am.",
        "The shop opens at 8 pm.",
        "The shop opens at 20:00.",
    ],
    "I switched from Vim to Emacs.": ["User uses Vim instead of Emacs.", "User switched from Emacs to Vim."],
    "I have 3 kids and pick them up at 3 pm.": ["User picks the kids up at 3 am."],
    "My alarm is at 6 and dinner at 18:00.": ["User's dinner is at 6 am.", "User's alarm is at 7 am."],
    "Mia is six and Min is eight.": ["User is six.", "Mia is eight.", "Min is six."],
    "Mina teaches maths in Oslo.": ["User teaches maths."],
    "Min bror bor i Bergen.": ["Brukeren bor i Bergen."],
    "Min bror bor i København.": ["Brugeren bor i København."],
    "Mina barn går i skola i Lund.": ["Användaren går i skola i Lund."],
    "Min syster bor i Lund och jag bor i Malmö.": ["Användaren bor i Lund."],
}
"""What no line says, though most of its words stand there."""
