"""The ten scenarios of facts that stay true, in English and in Korean, with keys worded differently on each turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One thing told: under which key, what, and the value that it replaces, if any."""

    attribute: str
    value: str
    replaces: str | None = None
    operation: str | None = None


@dataclass(frozen=True)
class Scenario:
    """Steps in order; `asks` is the question that ends it, `holds` the values that are true then.

    `lasting` says that the attribute is long-term at once.
    """

    name: str
    steps: tuple[Step, ...]
    asks: str
    holds: tuple[str, ...]
    lasting: bool = False
    sessions: bool = False


ENGLISH = (
    Scenario("hobby", (Step("hobby", "hiking"), Step("my current hobby", "pottery", "hiking")), "hobby", ("pottery",)),
    Scenario(
        "job", (Step("job", "teacher"), Step("occupation", "programmer", "teacher")), "job occupation", ("programmer",)
    ),
    Scenario(
        "food",
        (
            Step("favorite food", "pizza"),
            Step("most favourite food", "sushi", "pizza"),
            Step("Favourite_Food", "doenjang-jjigae", "sushi"),
        ),
        "favourite food",
        ("doenjang-jjigae",),
    ),
    Scenario("hobby again", (Step("hobby", "yoga"), Step("the user's hobby", "boxing", "yoga")), "hobby", ("boxing",)),
    Scenario(
        "address",
        (Step("address", "Seoul Gangnam"), Step("my current address", "Busan Haeundae", "Seoul Gangnam")),
        "address",
        ("Busan Haeundae",),
    ),
    Scenario(
        "pets", (Step("cat's name", "Nabi"), Step("name of the dog", "Choco")), "name", ("Nabi", "Choco"), lasting=True
    ),
    Scenario(
        "blood type", (Step("blood type", "A"), Step("bloodType", "AB", "A")), "blood type", ("AB",), lasting=True
    ),
    Scenario(
        "coffee",
        (
            Step("favorite drink", "coffee"),
            Step("favourite drink", "tea", "coffee"),
        ),
        "favourite drink",
        ("tea",),
    ),
    Scenario(
        "season",
        (Step("favorite season", "summer"), Step("favourite season", "autumn", "summer")),
        "favourite season",
        ("autumn",),
        sessions=True,
    ),
    Scenario(
        "two at once",
        (
            Step("favorite color", "red"),
            Step("favorite number", "7"),
            Step("favourite colour", "blue", "red"),
            Step("my favourite number", "13", "7"),
        ),
        "favourite colour number",
        ("blue", "13"),
    ),
)

KOREAN = (
    Scenario("취미", (Step("취미", "등산"), Step("현재 취미", "도예", "등산")), "취미", ("도예",)),
    Scenario("직업", (Step("직업", "교사"), Step("나의 직업", "프로그래머", "교사")), "직업", ("프로그래머",)),
    Scenario(
        "음식",
        (
            Step("좋아하는 음식", "피자"),
            Step("가장 좋아하는 음식", "초밥", "피자"),
            Step("제일 좋아하는 음식", "된장찌개", "초밥"),
        ),
        "좋아하는 음식",
        ("된장찌개",),
    ),
    Scenario("취미 다시", (Step("취미", "요가"), Step("내 취미", "복싱", "요가")), "취미", ("복싱",)),
    Scenario(
        "주소",
        (Step("주소", "서울 강남"), Step("현재 주소", "부산 해운대", "서울 강남")),
        "주소",
        ("부산 해운대",),
    ),
    Scenario(
        "반려동물", (Step("고양이 이름", "나비"), Step("강아지 이름", "초코")), "이름", ("나비", "초코"), lasting=True
    ),
    Scenario("혈액형", (Step("혈액형", "A"), Step("내 혈액형", "AB", "A")), "혈액형", ("AB",), lasting=True),
    Scenario(
        "커피",
        (Step("좋아하는 음료", "커피"), Step("가장 좋아하는 음료", "차", "커피")),
        "좋아하는 음료",
        ("차",),
    ),
    Scenario(
        "계절",
        (Step("좋아하는 계절", "여름"), Step("가장 좋아하는 계절", "가을", "여름")),
        "계절",
        ("가을",),
        sessions=True,
    ),
    Scenario(
        "둘 다",
        (
            Step("좋아하는 색", "빨강"),
            Step("좋아하는 숫자", "7"),
            Step("가장 좋아하는 색", "파랑", "빨강"),
            Step("가장 좋아하는 숫자", "13", "7"),
        ),
        "좋아하는 색 숫자",
        ("파랑", "13"),
    ),
)

AT_THE_END = {
    "en": {
        "boxing",
        "programmer",
        "doenjang-jjigae",
        "Busan Haeundae",
        "Nabi",
        "Choco",
        "AB",
        "tea",
        "autumn",
        "blue",
        "13",
    },
    "ko": {"복싱", "프로그래머", "된장찌개", "부산 해운대", "나비", "초코", "AB", "차", "가을", "파랑", "13"},
}
