"""The ten scenarios of facts that stay true, in English and in Korean: what is said, what a model makes of it, the question.

Statements and questions are those of the systems that the scenarios come from, word for word; the keys of a model are
worded differently on each turn.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One thing told: under which key, what, and the value that it replaces, if any."""

    attribute: str
    value: str
    replaces: str | None = None


@dataclass(frozen=True)
class Said:
    """A message of the user's and what it tells; `beside` is what a model says too and no line does."""

    text: str
    steps: tuple[Step, ...]
    beside: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Scenario:
    """Messages in order; `asks` is the question that ends it, `holds` the values that are true then.

    `lasting` says that the attribute is long-term at once, `also_holds` what is true beside what is asked.
    """

    name: str
    said: tuple[Said, ...]
    asks: str
    holds: tuple[str, ...]
    lasting: bool = False
    also_holds: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that is told, in order."""
        return tuple(step for said in self.said for step in said.steps)


def one(text: str, attribute: str, value: str, replaces: str | None = None) -> Said:
    return Said(text, (Step(attribute, value, replaces),))


ENGLISH = (
    Scenario(
        "MC01",
        (
            one("My hobby is hiking", "hobby", "hiking"),
            one("I switched to pottery", "my current hobby", "pottery", "hiking"),
        ),
        "What's my hobby?",
        ("pottery",),
    ),
    Scenario(
        "MC02",
        (
            one("I'm a teacher", "job", "teacher"),
            one("I quit, now a programmer", "occupation", "programmer", "teacher"),
        ),
        "What's my job?",
        ("programmer",),
    ),
    Scenario(
        "MC03",
        (
            one("I love pizza", "favorite_food", "pizza"),
            one("Changed to sushi", "most_favorite_food", "sushi", "pizza"),
            one("Actually doenjang-jjigae", "favorite food", "doenjang-jjigae", "sushi"),
        ),
        "Favorite food?",
        ("doenjang-jjigae",),
    ),
    Scenario(
        "MC04",
        (
            one("I do yoga", "hobby", "yoga"),
            one("Yoga was just a phase, now it's boxing", "the user's hobby", "boxing", "yoga"),
        ),
        "What exercise?",
        ("boxing",),
    ),
    Scenario(
        "MC05",
        (
            one("I live in Seoul Gangnam", "address", "Seoul Gangnam"),
            one("I moved to Busan Haeundae", "my current address", "Busan Haeundae", "Seoul Gangnam"),
        ),
        "Where do I live?",
        ("Busan Haeundae",),
    ),
    Scenario(
        "MC06",
        (
            one("I have a cat named Nabi", "cat's name", "Nabi"),
            one("Also adopted dog Choco", "name of the dog", "Choco"),
        ),
        "Pet names?",
        ("Nabi", "Choco"),
        lasting=True,
    ),
    Scenario(
        "MC07",
        (one("My blood type is A", "blood type", "A"), one("No wait, it's AB", "bloodType", "AB", "A")),
        "Blood type?",
        ("AB",),
        lasting=True,
    ),
    Scenario(
        "MC08",
        (
            one("I love coffee, I drink it daily", "coffee", "loves, drinks daily"),
            Said(
                "I quit coffee, only tea now",
                (Step("coffee", "quit", "loves, drinks daily"),),
                beside=(("tea", "drinks"), ("caffeine", "none")),
            ),
        ),
        "Do I like coffee?",
        ("quit",),
    ),
    Scenario(
        "MC09",
        (
            one("I love summer", "favorite season", "summer"),
            one("Actually I prefer autumn now", "favourite season", "autumn", "summer"),
        ),
        "Favorite season?",
        ("autumn",),
    ),
    Scenario(
        "MC10",
        (
            Said("My favorite color is red and my number is 7", (Step("color", "red"), Step("number", "7"))),
            Said(
                "My color is blue now and my number 13", (Step("colour", "blue", "red"), Step("my number", "13", "7"))
            ),
        ),
        "Color and number?",
        ("blue", "13"),
    ),
)

KOREAN = (
    Scenario(
        "MC01",
        (one("내 취미는 등산이야", "취미", "등산"), one("도예로 바꿨어", "현재 취미", "도예", "등산")),
        "내 취미가 뭐야?",
        ("도예",),
    ),
    Scenario(
        "MC02",
        (one("나는 교사야", "직업", "교사"), one("그만뒀어, 이제 프로그래머야", "나의 직업", "프로그래머", "교사")),
        "내 직업이 뭐야?",
        ("프로그래머",),
    ),
    Scenario(
        "MC03",
        (
            one("나 피자 좋아해", "좋아하는 음식", "피자"),
            one("초밥으로 바뀌었어", "가장 좋아하는 음식", "초밥", "피자"),
            one("사실은 된장찌개야", "제일 좋아하는 음식", "된장찌개", "초밥"),
        ),
        "제일 좋아하는 음식이 뭐야?",
        ("된장찌개",),
    ),
    Scenario(
        "MC04",
        (one("나 요가해", "취미", "요가"), one("요가는 잠깐이었고 이제 복싱해", "내 취미", "복싱", "요가")),
        "무슨 운동 해?",
        ("복싱",),
    ),
    Scenario(
        "MC05",
        (
            one("서울 강남에 살아", "주소", "서울 강남"),
            one("부산 해운대로 이사했어", "현재 주소", "부산 해운대", "서울 강남"),
        ),
        "나 어디 살아?",
        ("부산 해운대",),
    ),
    Scenario(
        "MC06",
        (one("나비라는 고양이 키워", "고양이 이름", "나비"), one("강아지 초코도 입양했어", "강아지 이름", "초코")),
        "반려동물 이름이 뭐야?",
        ("나비", "초코"),
        lasting=True,
    ),
    Scenario(
        "MC07",
        (one("혈액형은 A형이야", "혈액형", "A형"), one("아니다, AB형이야", "내 혈액형", "AB형", "A형")),
        "혈액형이 뭐야?",
        ("AB형",),
        lasting=True,
    ),
    Scenario(
        "MC08",
        (
            one("커피 좋아해서 매일 마셔", "커피", "매일 마심"),
            Said(
                "커피 끊었어, 이제 차만 마셔",
                (Step("커피", "끊음", "매일 마심"), Step("차", "마심")),
                beside=(("카페인", "없음"),),
            ),
        ),
        "나 커피 좋아해?",
        ("끊음",),
        also_holds=("마심",),
    ),
    Scenario(
        "MC09",
        (
            one("여름이 제일 좋아", "좋아하는 계절", "여름"),
            one("사실 이제 가을이 더 좋아", "가장 좋아하는 계절", "가을", "여름"),
        ),
        "좋아하는 계절이 뭐야?",
        ("가을",),
    ),
    Scenario(
        "MC10",
        (
            Said("좋아하는 색은 빨강, 숫자는 7", (Step("좋아하는 색", "빨강"), Step("좋아하는 숫자", "7"))),
            Said(
                "색은 파랑, 숫자는 13으로 바꿨어",
                (Step("가장 좋아하는 색", "파랑", "빨강"), Step("가장 좋아하는 숫자", "13", "7")),
            ),
        ),
        "좋아하는 색이랑 숫자가 뭐야?",
        ("파랑", "13"),
    ),
)
