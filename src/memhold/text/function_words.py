"""Function words by language: the evidence by which the language of a text is guessed.

They are the commonest articles, pronouns, prepositions, conjunctions and auxiliaries of each language, folded as
`memhold.text.analysis` folds (no diacritics). A word that several languages share is weak evidence for each.
"""

from __future__ import annotations

__all__ = ["EVIDENCE", "FUNCTION_WORDS", "UNIT"]

_LISTS = {
    "english": (
        "a about after all also am an and any are as at be because been before but by can could did do does doing "
        "for from had has have having he her here him his how i if in into is it its just me more my no not of on "
        "or our out over she should so some such than that the their them then there these they this those to too "
        "up us was we were what when where which while who whom whose why will with would you your"
    ),
    "german": (
        "aber als am an auch auf aus bei bin bis bist das dass dein deine dem den der des die doch du ein eine "
        "einem einen einer er es fur habe haben hat hatte ich ihr ihm im in ist ja kann mein meine mich mir mit "
        "nach nicht noch nur oder sein seine sich sie sind so uber um und uns von vor wann war warum was wenn wer "
        "werden wie wir wird wo zu zum zur"
    ),
    "french": (
        "ai as au aux avec c ce ces cet cette comme d dans de des dont du elle elles en est et etait eu il ils j "
        "je l la le les leur lui m ma mais me mes moi mon n ne nous on ont ou par pas plus pour quand que quel "
        "quelle qui quoi s sa se ses si son sont suis sur t ta te tes toi ton tu un une vos votre vous y"
    ),
    "spanish": (
        "a al como con cual cuando de del desde donde e el ella ellos en entre era esa ese eso esta estaba estan este "
        "es esto estoy fue ha hay he la las le les lo los mas me mi mis muy no nos o para pero por porque que quien se "
        "ser si sin sobre son soy su sus te tengo tiene tu un una unos y ya yo"
    ),
    "portuguese": (
        "a ao aos as com como da das de dela dele do dos e ela ele em era essa esse esta estou eu foi ha isso ja la "
        "lhe mais mas me meu minha muito na nao nas no nos nem o onde os ou para pela pelo por quando que quem se "
        "sem ser seu sou sua tem tenho um uma voce"
    ),
    "italian": (
        "a al alla anche che chi ci come con cosa da dal dalla de dei del della di dove e ed era gli ha hai hanno "
        "ho i il in io la le lei lo lui ma mi mia mio ne nei nel nella noi non o per perche piu quale quando quella "
        "quello questo se sei si sono su sua suo ti tu un una uno"
    ),
    "dutch": (
        "aan al als bij dan dat de der deze die dit door een en er geen haar had heb hebben heeft het hij hoe hun "
        "ik in is je jij maar me met mij mijn naar niet nog of om ook op over te tot uit van voor waar wanneer was "
        "wat we wel werd wie wij worden ze zij zijn zo"
    ),
    "swedish": (
        "alla att av den det dig din du dar efter ej eller en er ett fran for har hade han hon honom hur i inte jag "
        "kan med men mig min mitt mot nar nu och om oss pa sa sin som till under upp ut vad var vi vill vid ar"
    ),
    "norwegian": (
        "alle at av bare da de deg dem den denne der det din du eller en er et etter for fra ha hadde han har hun "
        "hva hvem hvis hvor i ikke jeg kan med meg men min mitt noe nar og om opp oss pa sa seg skal som til ut var "
        "ved vi vil"
    ),
    "danish": (
        "af alle at blev da de dem den der det dig din dog du efter eller en end er et for fra ham han har havde "
        "hende hun hvad hvis hvor i ikke jeg kan med men mig min mit nar noget nu og om op os pa sa sig skal som "
        "til ud var ved vi vil"
    ),
    "finnish": (
        "ei eika ette etta han he hanen ja jo joka jos kanssa kuin kun me mika mina minun minua missa mita mutta "
        "myos ne niin nyt oli olen olet on ovat se sen sina sinun siina sita tama taman tai te vain voi"
    ),
    "hungarian": (
        "a az azt be csak de egy el en es ez ezt fel ha hogy hol hogyan is itt ki le meg mert mi mint mit mikor "
        "miert nagyon nekem nem o ok ott sem te van vagy vagyok volt"
    ),
    "romanian": (
        "acest aceasta ai al ale am ar are as au ca care ce cu cum cand da dar de despre din e ea ei el este eu fi "
        "fost ii il in isi la le lor lui mai mea mele meu mi nu o pe pentru sa sau se si sunt te un una unde"
    ),
    "turkish": (
        "ama bana ben benim beni bir biz bu cok da daha de degil en gibi hangi her icin ile ise kadar ki kim mi mu "
        "nasil ne neden nerede o olan olarak onu onun sana sen senin siz su var ve veya ya yok"
    ),
    "polish": (
        "a ale bo by byl byla bylo byc ci co czy dla do gdy gdzie go i ich ja jak jego jej jest jestem juz kiedy "
        "kto ktory ma mam mi mnie moj moja na nie o od po pod przez przy sa sie ta tak tam te tego ten to tu ty w "
        "we z za ze"
    ),
    "czech": (
        "a aby ale ani az bez by byl byla bylo byt co dnes do jak jake jako je jeho jeji jen jsem jsi jsme jsou k "
        "kde kdo kdy kdyz ktera ktery ma mam me mi moje muj na nebo neni o od po pro protoze s se si ta tak take "
        "ten to tu uz v ve vsak z za ze"
    ),
    "catalan": (
        "a al als amb aquest aquesta com de del dels des el ella els em en era es esta fa ha han he hi i jo la les "
        "li ma me mes meu meva molt no o on per pel pero perque quan que qui se si soc son sense seu seva te "
        "tinc un una va vaig"
    ),
    "indonesian": (
        "ada adalah akan aku anda apa atau bagaimana bahwa belum bisa dalam dan dari dengan di dia dimana ini itu "
        "jika juga kami kamu kapan karena ke kita lebih mereka oleh pada saat saya sebagai sudah suka tapi tentang "
        "tidak untuk yang"
    ),
}

FUNCTION_WORDS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""The function words of each language that is written in Latin letters and has a Snowball stemmer."""

UNIT = 60
"""The evidence of a word that only one language has; a word of n languages counts `UNIT // n` for each."""


def _evidence() -> dict[str, tuple[tuple[str, int], ...]]:
    speakers: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            speakers.setdefault(word, []).append(language)
    return {
        word: tuple((language, UNIT // len(languages)) for language in languages)
        for word, languages in speakers.items()
    }


EVIDENCE: dict[str, tuple[tuple[str, int], ...]] = _evidence()
"""Which languages a word speaks for, and how much."""
