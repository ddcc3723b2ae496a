"""Function words by language: the evidence by which the language of a text is guessed.

They are the commonest articles, pronouns, prepositions, conjunctions and auxiliaries of each language, folded as
`memhold.text.analysis` folds (no diacritics). A word that several languages share is weak evidence for each.
"""

from __future__ import annotations

__all__ = ["EVIDENCE", "FUNCTION_WORDS", "UNIT", "UNSPACED_FUNCTION_WORDS"]

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

_UNSPACED = {
    "chinese": (
        "我 你 您 他 她 它 我们 你们 他们 她们 我的 你的 他的 她的 自己 什么 怎么 怎样 怎么样 为什么 哪 "
        "哪个 哪些 哪里 哪儿 哪种 谁 谁的 几 几个 多少 多久 什么时候 什么样 这 那 这个 那个 这些 那些 "
        "这里 那里 是 的 地 得 了 着 过 吗 呢 吧 啊 在 有 没有 没 不 不是 是不是 有没有 会 能 可以 "
        "就 都 也 还 和 跟 与 对 把 被 给 从 到 以 为 于 之 所 而 但 但是 因为 所以 如果 请 "
        "关于 "
    ),
    "japanese": (
        "は が を に で と も の へ や か ね よ な から まで より ので のに けど って という です ます "
        "でした ました ません だった だ した して する しました ている ていた いる いた ある あった ない "
        "なかった なに 何 どこ いつ だれ 誰 どの どれ どう どんな どうして なぜ いくつ いくら この その "
        "あの これ それ あれ ここ そこ あそこ 私 私の 私は 僕 僕の 僕は 俺 あなた こと もの ください "
        "ですか ますか でしたか ましたか でしたっけ っけ だっけ について "
    ),
    "korean": (
        "나 나는 난 내 내가 나의 나를 나한테 나도 저 저는 전 제 제가 저의 저를 저한테 우리 우리는 우리가 "
        "너 네가 당신 그 그가 그는 그녀 그것 그거 이 이거 이것 저거 그런 이런 뭐 뭐가 뭐야 뭐예요 뭐였지 "
        "뭐였어 뭐였더라 뭐지 뭔지 뭘 무엇 무엇을 무엇이 무엇인가요 무슨 어떤 어떻게 어디 어디서 어디에 "
        "어디야 어디로 어디였지 언제 언제야 언제였지 언제부터 누구 누가 누구야 누구랑 누구였지 왜 얼마 "
        "얼마나 얼마야 얼마였지 얼마였어 몇 어느 것 거 게 건 걸 수 때 중 중에 있는 있어 있어요 있지 있나 "
        "있었지 있었어 없는 없어 없지 하는 한 할 해 해요 했지 했어 했어요 했더라 하지 하나 하고 되는 돼 "
        "된 됐지 됐어 대해 대해서 대한 관해 관련 줘 주세요 그리고 그런데 근데 "
        "그래서 그럼"
    ),
}
UNSPACED_FUNCTION_WORDS = frozenset(word for words in _UNSPACED.values() for word in words.split())
"""Function words of scripts without spaces: Han and kana as parts of a run, Hangul as whole words."""

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
