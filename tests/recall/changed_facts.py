"""Dialogues in which something is said and later said otherwise: (earlier, later, question). Written for this project."""

from __future__ import annotations

CHANGES: tuple[tuple[str, str, str], ...] = (
    ("My favourite colour is blue.", "Actually my favourite colour is green now.", "What is my favourite colour?"),
    ("I live in Lisbon, close to the river.", "We moved last month, I live in Porto now.", "Where do I live?"),
    ("I work at Acme as a data engineer.", "I left Acme. I work at Globex now.", "Where do I work?"),
    ("My phone number is 555 0142.", "I have a new phone number: 555 0199.", "What is my phone number?"),
    ("Our dog is called Rex.", "We renamed the dog, he is called Bruno now.", "What is our dog called?"),
    ("I drink my coffee with milk.", "I drink my coffee black these days.", "How do I drink my coffee?"),
    ("The deploy runs on Fridays at noon.", "The deploy runs on Tuesdays at nine now.", "When does the deploy run?"),
    ("The meeting is at three o'clock.", "The meeting was moved, it is at five o'clock.", "What time is the meeting?"),
    ("My doctor is Dr. Patel.", "I changed doctors, my doctor is Dr. Nguyen now.", "Who is my doctor?"),
    ("I use vim as my editor.", "I switched, I use Helix as my editor.", "Which editor do I use?"),
    ("We use PostgreSQL as the database.", "We migrated: we use SQLite as the database.", "Which database do we use?"),
    (
        "The budget for the kitchen is 8,000 euros.",
        "The budget for the kitchen is 12,000 euros.",
        "What is the kitchen budget?",
    ),
    (
        "My sister studies law in Vienna.",
        "My sister gave up law, she studies design in Graz.",
        "What does my sister study?",
    ),
    ("I am vegetarian.", "I am not vegetarian any more, I eat fish.", "Am I vegetarian?"),
    ("My car is a red Toyota.", "I sold the Toyota, my car is a white Skoda.", "What car do I have?"),
    ("I play the piano in a band.", "I quit the piano, I play the drums in a band.", "What do I play in the band?"),
    (
        "The password hint is 'first pet'.",
        "The password hint is 'old street' from today on.",
        "What is the password hint?",
    ),
    (
        "My flight leaves on the 4th of June.",
        "They rebooked me, my flight leaves on the 6th of June.",
        "When does my flight leave?",
    ),
    ("I am reading Dune at the moment.", "I finished that, I am reading Emma at the moment.", "What am I reading?"),
    ("My manager is Olivia.", "There was a change, my manager is Pedro.", "Who is my manager?"),
    ("I train for a marathon in Berlin.", "I train for a triathlon in Nice instead.", "What do I train for?"),
    ("The API timeout is 30 seconds.", "We raised the API timeout, it is 60 seconds.", "What is the API timeout?"),
    (
        "My son goes to the Hillside school.",
        "My son goes to the Riverside school since August.",
        "Which school does my son go to?",
    ),
    (
        "I take 20 mg of the medicine each day.",
        "I take 10 mg of the medicine each day now.",
        "How much medicine do I take?",
    ),
    ("Ich wohne in Hamburg.", "Ich wohne jetzt in Leipzig.", "Wo wohne ich?"),
    ("Mein Lieblingsessen ist Pizza.", "Mein Lieblingsessen ist inzwischen Curry.", "Was ist mein Lieblingsessen?"),
    ("J'habite à Lyon.", "J'habite maintenant à Nantes.", "Où est-ce que j'habite ?"),
    ("Mon plat préféré est la pizza.", "Mon plat préféré est le couscous.", "Quel est mon plat préféré ?"),
    ("제가 좋아하는 음식은 김치예요.", "제가 좋아하는 음식은 이제 비빔밥이에요.", "제가 좋아하는 음식이 뭐예요?"),
    ("Vivo en Madrid con mi familia.", "Ahora vivo en Sevilla con mi familia.", "¿Dónde vivo?"),
)

FILLER: tuple[str, ...] = (
    "How was your weekend?",
    "It rained the whole time, so we stayed at home and cooked.",
    "Could you draft a short mail to the landlord about the heating?",
    "Sure, here is a draft. Tell me if the tone is right.",
    "That reads well, thank you.",
    "What would be a good present for a friend who likes hiking?",
    "A head torch or a good thermos are always welcome.",
    "I have to prepare a talk about our release process.",
    "Shall I make an outline with three parts?",
    "Yes, and keep it under ten minutes please.",
    "By the way, the train was late again today.",
    "That is annoying. Did you arrive in time?",
)
