"""Pairs of messages of one person, the older first: whether the newer says that the older one holds no longer.

Written before the rules that read them, as people write to an assistant; half of the pairs are traps. `BUILT_ON` were
looked at while the rules were made, `HELD_BACK` were asked once, when they stood.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BUILT_ON", "HELD_BACK", "KNOWN_WRONG", "TRAPS", "Pair"]


class Pair(NamedTuple):
    """Two messages, the older first, and whether the newer one replaces what the older one says."""

    older: str
    newer: str
    replaced: bool


_REPLACED: Final = (
    ("I live in Oslo.", "I moved to Ghent last month."),
    ("We live in Leeds, close to the station.", "Big news, we've relocated to Bristol!"),
    ("I'm based in Madrid at the moment.", "I live in Lisbon now, so any local tips are welcome."),
    ("I work at Fennimore as a nurse.", "I quit Fennimore two weeks ago."),
    ("I work for Bluebird Logistics.", "I work for Tallis & Sons now."),
    ("My dentist is Dr. Amari.", "My new dentist is Dr. Holm."),
    ("My favourite colour is green.", "My favourite colour is orange these days."),
    ("My phone number is 555 0134.", "My phone number is now 555 0199."),
    ("We use Slack at work.", "We switched from Slack to Teams this week."),
    ("I drive a Corolla.", "We've just swapped the Corolla for a used e-Golf."),
    ("I have a subscription to the Economist.", "I cancelled my subscription to the Economist."),
    ("My flight is at 7:15 on Friday.", "My flight has been moved to 9:40."),
    ("Our standup is at 9:30.", "Our standup is at 10:00 now."),
    ("I play tennis every Tuesday.", "I no longer play tennis, my knee is shot."),
    ("My rent is 900 euros a month.", "My rent went up to 980 euros."),
    ("I take the bus to work.", "I cycle to work instead of taking the bus now."),
    ("The project deadline is 12 March.", "The project deadline was pushed back to 26 March."),
    ("My manager is Priya.", "My manager is Tobias now, Priya left."),
    ("I'm learning Italian on Duolingo.", "I stopped learning Italian."),
    ("I bank with Halden Savings.", "I changed banks: I bank with Northway now."),
    ("My car is a red Skoda.", "I sold the Skoda."),
    ("I weigh 82 kg.", "I weigh 78 kg now."),
    ("My parents live in Turin.", "My parents moved to Genoa in the autumn."),
    ("My yoga class is on Mondays.", "My yoga class is on Wednesdays now."),
    ("We have a piano lesson on Thursday at 5 pm.", "The piano lesson was cancelled."),
    ("I'm using Postgres 14 for the shop.", "We upgraded from Postgres 14 to Postgres 16 yesterday."),
    ("My email is lena@oldmail.example.", "Please note my email has changed to lena@newmail.example."),
    ("I smoke about ten cigarettes a day.", "I don't smoke anymore."),
    ("Our landlord is Mr. Petty.", "Our new landlord is Ms. Okafor."),
    ("I study physics at Uppsala.", "I switched from physics to economics."),
    ("My gym is FitHouse.", "My gym is now Ironworks."),
    ("The wifi password is bluefish22.", "I changed the wifi password to greenfrog7."),
    ("I own a cabin near Lillehammer.", "We sold the cabin near Lillehammer in June."),
    ("I'm with Vodaline for mobile.", "I switched from Vodaline to Telmo."),
    (
        "My appointment with the eye doctor is on Tuesday.",
        "Actually, my appointment with the eye doctor is on Thursday.",
    ),
    ("We get our vegetables from GreenBox.", "We don't get our vegetables from GreenBox any more."),
    ("My favorite band is Low.", "My favorite band is Big Thief."),
    ("I live in Kraków with two flatmates.", "I've moved back to Gdynia."),
    ("I work at the city library.", "I no longer work at the city library."),
    ("The wedding is on 4 July.", "We moved the wedding to 11 July."),
)
_HOLDS: Final = (
    # Of somebody else.
    ("I live in Oslo.", "My sister moved to Ghent last month."),
    ("My dentist is Dr. Amari.", "My mother's new dentist is Dr. Holm."),
    ("I work at Fennimore.", "Anna quit Fennimore yesterday."),
    ("We use Slack at work.", "The client switched from Slack to Teams."),
    ("I drive a Corolla.", "My neighbour sold his Corolla."),
    ("My manager is Priya.", "His manager is Tobias now."),
    # Supposed, wished or asked.
    ("I live in Oslo.", "If I moved to Ghent, would my pension change?"),
    ("I live in Leeds.", "Sometimes I wish I lived in Bristol now."),
    ("We use Slack.", "Should we switch from Slack to Teams?"),
    ("I drive a Corolla.", "Suppose I sold the Corolla, what could I get for it?"),
    ("My rent is 900 euros.", "Imagine my rent went up to 1200 euros, I could not pay it."),
    ("I work for Bluebird.", "What happens to my shares when I quit Bluebird?"),
    # To come.
    ("I live in Oslo.", "I'm moving to Bergen next spring, maybe."),
    ("I live in Oslo.", "We will be moving to Ghent in May."),
    ("I drive a Corolla.", "I'm thinking of selling the Corolla."),
    ("I work at Fennimore.", "I start at Tallis in March."),
    ("I play tennis every Tuesday.", "I might stop playing tennis this winter."),
    # Quoted, pasted, told as a story.
    ("I live in Oslo.", 'Translate "I moved to Ghent last month" into Dutch.'),
    ("My email is lena@oldmail.example.", "She wrote: my email has changed to rosa@newmail.example."),
    ("I live in Oslo.", "For my short story: I moved to Ghent and never looked back."),
    ("I play tennis.", "> I no longer play tennis\nHow do I answer that?"),
    # Both hold.
    ("My dog is called Rex.", "My new dog is called Tofu."),
    ("My sister is Anna.", "My sister Lise lives in Rome."),
    ("I live in Oslo.", "I live in Norway now, after years abroad."),
    ("I live in Oslo.", "I live in Grünerløkka, near the park."),
    ("My favourite film is Alien.", "My favourite book is Middlemarch."),
    ("I have a bike.", "I just got a new car."),
    ("I speak German.", "I speak Dutch now too."),
    ("My flight is on Friday.", "My flight is at 7:15."),
    ("I work at Fennimore as a nurse.", "I also work at the Tallis clinic now, on weekends."),
    ("My appointment with the eye doctor is on Tuesday.", "My appointment with the dentist is now on Thursday."),
    ("My son plays football.", "My son no longer plays the violin."),
    ("I have a subscription to the Economist.", "I cancelled my gym membership."),
    # Of before, told late.
    ("I live in Oslo.", "I moved to Ghent in 1998 and stayed for six years."),
    ("I live in Oslo.", "When I was ten we moved to Ghent."),
    ("I work at Fennimore.", "Back then I worked at Tallis."),
    ("I drive a Corolla.", "I sold my old Saab before I bought the Corolla."),
    # Denied, nearly, or of something else.
    ("I live in Oslo.", "No, I haven't moved to Ghent."),
    ("I live in Oslo.", "We almost moved to Ghent last year."),
    ("I live in Oslo.", "I moved to the next question, thanks."),
)
_ALL: Final = (
    *(Pair(older, newer, replaced=True) for older, newer in _REPLACED),
    *(Pair(older, newer, replaced=False) for older, newer in _HOLDS),
)
BUILT_ON: Final = _ALL[::2]
HELD_BACK: Final = _ALL[1::2]
TRAPS: Final = (
    ("I live in Oslo.", "I moved to Linux last month."),
    ("I live in Oslo.", "We moved to Frogner last week, it is a nice part of town."),
    ("I live in Oslo.", "My office moved to Ghent last month."),
    ("I live in Oslo.", "I moved to Ghent for a year and came back."),
    ("I live in Oslo.", "I moved my savings to Ghent Bank."),
    ("I live in Oslo.", "I moved to Mondays."),
    ("I live in Oslo.", "I now live in fear."),
    ("I live in Oslo.", "I live in the Netherlands now."),
    ("I work at Acme.", "I left Acme at six and took the bus."),
    ("I work at Acme.", "I left Acme early yesterday."),
    ("I work at Acme.", "I work with Anna now."),
    ("I work at Acme.", "I work at night now."),
    ("I work at Acme.", "I started at the gym last week."),
    ("I work at Acme as a nurse.", "I no longer work weekends."),
    ("I work at Acme.", "I no longer work as a nurse, I run the ward."),
    ("I run a bakery.", "I don't run anymore, my knee hurts."),
    ("I drink coffee every morning.", "I don't drink anymore."),
    ("I drink coffee every morning.", "I no longer drink coffee after noon."),
    ("I eat meat.", "I no longer eat red meat."),
    ("I eat meat substitutes.", "I don't eat meat anymore."),
    ("I have a dog.", "I no longer have a cat."),
    ("I have a car.", "I sold my car stereo."),
    ("My dentist is Dr. Berg.", "My dentist is Norwegian."),
    ("My dentist is Dr. Berg.", "My dentist is Anna Berg."),
    ("My dentist is Dr. Berg.", "My dentist is in Ghent now."),
    ("My rent is 900 euros a month.", "My rent is 10,800 euros a year."),
    ("My rent is 900 euros.", "My rent is due on the 3rd."),
    ("My rent is 900 euros.", "My rent is 900.00 euros now."),
    ("My flight is at 3 pm.", "My flight is at 15:00 now."),
    ("My flight is on March 5.", "My flight is on the 5th of March."),
    ("My flight is on Friday.", "My flight is now at gate 12."),
    ("My weight is 82 kg.", "My weight is 180 pounds."),
    ("My work email is a@x.example.", "My private email is b@y.example."),
    ("My favourite colour is green.", "My favourite colour is dark green."),
    ("My favourite colour is green.", "My favourite colour combination is blue and white."),
    ("My favourite colour is green.", "My favourite colour is white for walls."),
    ("My favourite food is pizza.", "My favourite food in Rome is carbonara."),
    ("We use Slack.", "We switched from Zoom to Teams."),
    ("We use Slack.", "We switched the lights off in Slack Lane."),
    ("I drive a Corolla.", "I swapped the Corolla's tyres for winter ones."),
    ("I use Postgres.", "I switched to Postgres 16."),
    ("I play the piano.", "I stopped playing the piano at ten, my neighbours were asleep."),
    ("The meeting is on Tuesday.", "The other meeting was moved to Thursday."),
    ("The meeting is on Tuesday.", "The meeting was moved to room 5."),
    ("My appointment is on Tuesday.", "My appointment was cancelled once, years ago."),
    ("My password is bluefish22.", "The password for the router was changed."),
    ("I have 2 dogs.", "I have 3 cats now."),
    ("I run 5 km every morning.", "I ran 10 km today."),
    ("I weigh 82 kg.", "I can lift 90 kg now."),
    ("I study physics at Uppsala.", "I study for the exam now."),
    ("I have a flight on Friday.", "I cancelled my hotel on Friday."),
    ("My car is a red Skoda.", "I sold the Skoda poster."),
    ("My manager is Priya.", "My manager is On leave."),
    ("My manager is Priya.", "My manager is Hindu."),
    ("My manager is Priya.", "My manager is HR now."),
    ("I take 20 mg of the medicine each day.", "I take 10 mg of iron each day now."),
    ("I am vegetarian.", "I am not hungry any more."),
    ("I am vegetarian.", "I'm no longer tired."),
    ("I bank with Halden.", "I bank with Northway now too."),
    ("I speak German.", "I no longer speak to my brother."),
    ("I go to the gym.", "I no longer go to church."),
    ("I live in Oslo.", "Actually, I live in Oslo's old town."),
    ("My name is Lena.", "My new name is Ada."),
    ("My bike is a Trek.", "My new bike is a Canyon."),
    ("I read the Economist.", "I read 20 pages now."),
    ("I use vim as my editor.", "I use nano as my editor for commits now."),
    ("The API timeout is 30 seconds.", "The build timeout is 60 seconds now."),
    ("The budget for the kitchen is 8,000 euros.", "The budget for the bath is 5,000 euros."),
    ("Our standup is at 9:30.", "We moved, it is at the end of the street."),
    ("My flight leaves at 7.", "My flight leaves on Friday."),
    ("I have a piano lesson on Thursday at 5 pm.", "The guitar lesson was cancelled."),
    ("My parents live in Turin.", "I moved to Genoa."),
    ("I live in Turin.", "My parents moved to Genoa."),
    ("I like jazz.", "I no longer listen to the radio."),
    ("I live in Oslo.", "hey i moved to the couch"),
    ("I live in Oslo.", "In the game, I moved to Ghent."),
    ("I live in Oslo.", "I moved to Ghent in my dream."),
    ("I live in Oslo.", "Guess what: Anna called. I moved to Table Nine."),
    ("I work at Acme.", "I quit Acme tomorrow."),
    ("I work at Acme.", "I quit Acme Fitness last month."),
)
"""More pairs of which both hold, written against the rules when they stood; five of 82 were marked at first."""
KNOWN_WRONG: Final = (
    ("I live in Oslo.", "I moved to Acme last month."),
    ("I live in Oslo.", "We moved to Frogner last week."),
    ("I work at Acme.", "I work for Tom now."),
)
"""What is marked and may be wrong: a name does not tell whether it is a town, a part of one, a firm or a person."""
