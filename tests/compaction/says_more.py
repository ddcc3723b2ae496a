"""Merges for the rules of decision 125, each beside a fair one of nearly the same words. Plain data."""

from __future__ import annotations

# ruff: noqa: RUF001 - texts of several scripts

__all__ = ["FAIR_CHANGES", "FAIR_TOGETHER", "FALSE_CHANGES", "FALSE_TOGETHER"]

# fmt: off
Together = list[tuple[list[str], str]]

FALSE_TOGETHER: Together = [
    # for all times and places, where no memory says so
    (["The lamp in the porch is on when it snows", "When it snows the porch lamp is on"], "The lamp in the porch is always on"),
    (["Die Nutzerin isst auf Reisen Fisch", "Auf Reisen gibt es für die Nutzerin Fisch"], "Die Nutzerin isst immer Fisch"),
    (["비가 오면 아버지가 차로 데려다준다", "비 오는 날에는 아버지가 차로 데려다준다"], "아버지가 항상 차로 데려다준다"),
    # for sure, where a memory leaves it open
    (["Perhaps Ada joins the crew", "Ada is a welder"], "Ada, a welder, joins the crew"),
    (["Quizás Ada venda el barco", "El barco de Ada mide nueve metros"], "Ada vende el barco, que mide nueve metros"),
    (["하준은 봄에 이사할지도 모른다", "하준은 요리사이다"], "요리사 하준은 봄에 이사한다"),
    # what both of them say
    (["저녁에 소라와 체스를 둔다", "소라와 저녁마다 체스를 둔다"], "저녁에 소라를 만난다"),
    # one word of Chinese or Japanese in the place of another
    (["奶奶对花生过敏", "奶奶对花生过敏，随身带药"], "奶奶对大豆过敏，随身带药"),
    (["兄は塩分を控えている", "兄は塩分を控え、毎朝歩く"], "兄は糖分を控え、毎朝歩く"),
    # who does it and to whom
    (["민서는 도윤에게 수영을 가르친다", "수업은 아침이다"], "도윤은 아침에 민서에게 수영을 가르친다"),
    (["健は葵に料理を教える", "料理は夕方"], "葵は夕方に健に料理を教える"),
    (["李老师照顾小明", "小明今年八岁"], "今年八岁的小明照顾李老师"),
]
FAIR_TOGETHER: Together = [
    (["The lamp in the porch is always on", "When it snows the porch lamp is on too"], "The lamp in the porch is always on, also when it snows"),
    (["Everyone in the crew has a radio", "The radios of the crew are from Zenith"], "Everyone in the crew has a radio from Zenith"),
    (["Das WLAN reicht überall hin", "Das WLAN ist schnell"], "Das WLAN ist schnell und reicht überall hin"),
    (["El wifi llega a todo el mundo en casa", "El wifi es rápido"], "El wifi es rápido y llega a todo el mundo en casa"),
    (["Perhaps Ada joins the crew", "Ada is a welder"], "Ada, a welder, might join the crew"),
    (["Perhaps Ada joins the crew", "Ada is a welder"], "Ada is a welder and is thinking of joining the crew"),
    (["奶奶对花生过敏", "奶奶对花生过敏，随身带药"], "奶奶对花生过敏，身上带着药"),
    (["민서는 도윤에게 수영을 가르친다", "수업은 아침이다"], "민서는 아침에 도윤에게 수영을 가르친다"),
    (["李老师照顾小明", "小明今年八岁"], "李老师照顾今年八岁的小明"),
]

FALSE_CHANGES: Together = [
    # both sides as if they held
    (["Breakfast is a bowl of porridge", "Breakfast is a slice of rye these days"], "Breakfast is a bowl of porridge or a slice of rye"),
    (["La pintora trabaja con acuarela", "Ahora trabaja con óleo"], "La pintora trabaja con acuarela y óleo"),
    (["모임은 도서관에서 한다", "모임은 이제 카페에서 한다"], "모임은 도서관과 카페에서 한다"),
    (["照片存在硬盘里", "照片现在存在云端"], "照片存在硬盘和云端"),
    # the one instead of the other, the wrong way round
    (["The bulletin appears monthly", "From May the bulletin appears each quarter"], "From May the bulletin appears monthly instead of each quarter"),
    (["Das Auto braucht 7,5 Liter", "Seit der Reparatur braucht das Auto 6,2 Liter"], "Seit der Reparatur braucht das Auto 7,5 statt 6,2 Liter"),
    (["打ち合わせは英語で行う", "先月から打ち合わせは韓国語で行う"], "先月から打ち合わせは韓国語ではなく英語で行う"),
]
FAIR_CHANGES: Together = [
    (["Breakfast is a bowl of porridge", "Breakfast is a slice of rye these days"], "Breakfast is a slice of rye these days, and was a bowl of porridge before"),
    (["모임은 도서관에서 한다", "모임은 이제 카페에서 한다"], "모임은 이제 카페에서 한다"),
    (["The bulletin appears monthly", "From May the bulletin appears each quarter"], "From May the bulletin appears each quarter instead of monthly"),
    (["Das Auto braucht 7,5 Liter", "Seit der Reparatur braucht das Auto 6,2 Liter"], "Seit der Reparatur braucht das Auto 6,2 statt 7,5 Liter"),
    (["打ち合わせは英語で行う", "先月から打ち合わせは韓国語で行う"], "先月から打ち合わせは英語ではなく韓国語で行う"),
]
"""Of each two memories the second replaces the first."""
# fmt: on
