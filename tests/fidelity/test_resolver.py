"""Numbers, units, times of the clock and days as values: what is told in other words is found to be the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhold.fidelity.details import details_of, found

WEDNESDAY = datetime(2026, 3, 4, 9, 15, tzinfo=UTC)


def stands(told: str, line: str, code: str, at: datetime = WEDNESDAY) -> list[str]:
    """How each detail of a statement stands beside a line."""
    whole, said = details_of(told, (code,), at), details_of(line, (code,), at)
    return [found(detail, whole, [said]) for detail in whole.each if detail.meant is None or detail.meant.sure]


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("en", "Wednesday, March 11, 2026, at 09:30", "moved to next wednesday at half past nine"),
        ("en", "July 1, 2026", "the first of july"),
        ("en", "April 1, 2026", "from the first of next month"),
        ("en", "about 15 April 2026", "in six weeks"),
        ("en", "March 16, 2026", "delivery is confirmed for march 16"),
        ("en", "25 March 2026", "on the 21st, my mother four days later"),
        ("en", "19:00", "at 7pm"),
        ("en", "12:00", "by noon"),
        ("en", "15:45", "at quarter to four"),
        ("en", "9:00", "can you pick us up at 9?"),
        ("en", "4 GB", "the box only has 4 gigs"),
        ("en", "20,000 rows", "20k chunks"),
        ("en", "340 pounds a day", "340 a day"),
        ("en", "60 bulbs and 12 alliums", "sixty bulbs and a dozen alliums"),
        ("en", "90", "he pays ninety"),
        ("de", "17. April 2026 um 15:30 Uhr", "am 17. April um halb vier"),
        ("de", "6. März 2026", "übermorgen"),
        ("de", "950", "neunhundertfünfzig kalt"),
        ("de", "19. April 2026", "spätestens 19. April"),
        ("de", "4. Mai 2026", "am 4.5."),
        ("fr", "vendredi 6 mars 2026 à 15 h 30", "vendredi à 15h30"),
        ("fr", "1er décembre à 8 h 45", "le 1er décembre à neuf heures moins le quart"),
        ("fr", "90 €", "quatre-vingt-dix euros"),
        ("es", "lunes 9 de marzo de 2026 a las 17:30", "el lunes que viene a las cinco y media de la tarde"),
        ("es", "120 invitados", "seremos ciento veinte"),
        ("it", "32", "trentadue"),
        ("it", "15:30", "alle tre e mezza"),
        ("pt", "32", "trinta e dois"),
        ("pt", "14:30", "às duas e meia da tarde"),
        ("ru", "5 апреля 2026 года", "5 апреля"),
        ("ru", "25 рублей", "двадцать пять рублей"),
        ("zh", "2026年3月6日15:00", "改到后天下午三点"),
        ("zh", "2026年4月10日", "下个月十号"),
        ("zh", "20000字", "两万字"),
        ("zh", "3600元", "一共三千六"),
        ("zh", "6.25公斤", "体重十二斤半"),
        ("ko", "2026년 3월 5일 15:00", "내일 오후 3시"),
        ("ko", "50만 원", "오십만 원"),
        ("ko", "2마리", "두 마리"),
        ("ja", "2026年3月5日15:30", "明日の午後3時半"),
        ("ja", "3000円", "三千円"),
        ("en", "LV-88213 in jobs/export_orders.py", "order lv-88213, see jobs/export_orders.py"),
    ],
)
def test_the_same_in_other_words(code: str, told: str, line: str) -> None:
    assert set(stands(told, line, code)) == {"held"}


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("en", "March 12, 2026", "next wednesday"),
        ("en", "16:30", "at half past nine"),
        ("en", "340 MB", "340 gigs"),
        ("en", "65 g", "65 mg"),
        ("en", "€6,300", "£6,300"),
        ("en", "four lessons", "five lessons"),
        ("en", "NX7-3319", "NX7-3391"),
        ("en", "/api/v1/orders", "/api/v2/orders"),
        ("de", "um 16:30 Uhr", "um halb vier"),
        ("es", "cuatro horas", "cuatro días"),
        ("zh", "MU5173", "MU5137"),
        ("zh", "6.3公斤", "六斤三两"),
        ("ko", "저녁 7시", "아침 7시"),
        ("es", "los lunes", "los domingos"),
    ],
)
def test_another_of_the_same_kind_contradicts(code: str, told: str, line: str) -> None:
    assert "contradicted" in stands(told, line, code)


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("en", "5 April 2026", "on the road until easter"),  # a day that is not understood
        ("en", "6 km", "it weighs 9 kilos"),  # of another kind
        ("en", "at once", "three boxes"),
        ("en", "twelve boxes", "bring it once"),  # "once" is no eleven and no one
        ("en", "two people", "64 square metres, third floor"),
    ],
)
def test_what_is_not_understood_contradicts_nothing(code: str, told: str, line: str) -> None:
    assert "contradicted" not in stands(told, line, code)


def test_without_a_language_digits_and_dates_stand() -> None:
    whole, line = (
        details_of(text, (), WEDNESDAY) for text in ("2026-03-11, 14:30, 412 kg, DX-4", "2026-03-11 14:30 412kg dx-4")
    )
    assert [found(detail, whole, [line]) for detail in whole.each] == ["held"] * len(whole.each)
    assert len(whole.each) == 4
