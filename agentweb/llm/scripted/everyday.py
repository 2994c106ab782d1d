"""Small scripted tasks: the date, sums, and the weather of cities compared."""

import re
from dataclasses import dataclass

from agentweb.llm.scripted.phrases import changes_by_people, first_line, stopped, without_tools
from agentweb.llm.scripted.scene import Fate, Scene, Seen
from agentweb.llm.scripted.turn import Call, Turn

# --- date ---------------------------------------------------------------------------------------------------------

_WEEKDAYS = dict(
    zip(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
        strict=True,
    )
)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIME = re.compile(r"\b(\d{2}:\d{2})(?::\d{2})?\b")


def tell_date(scene: Scene) -> Turn:
    results = scene.seen("current_time")
    if not results:
        return without_tools(scene, "current_time") or Turn(
            thinking=scene.say(
                "The date must come from a tool, I do not know it.", "日期必须由工具给出，我自己并不知道。"
            ),
            calls=(Call.of("current_time"),),
        )
    refused = stopped(scene, results)
    if refused:
        return refused
    content = results[-1].content
    day = _DATE.search(content)
    if day is None:
        return Turn(text=scene.say(f"The clock says: {content.strip()}", f"时钟给出：{content.strip()}"))
    weekday = next((name for name in _WEEKDAYS if name in content.lower()), "")
    clock = _TIME.search(content)
    at = clock[1] if clock else ""
    return Turn(
        text=scene.say(
            f"Today is {f'{weekday.capitalize()}, ' if weekday else ''}**{day[0]}**{f' ({at})' if at else ''}.",
            f"今天是 **{int(day[1])}年{int(day[2])}月{int(day[3])}日** {_WEEKDAYS.get(weekday, '')} {at}".rstrip()
            + "。",
        )
    )


# --- sums ---------------------------------------------------------------------------------------------------------

_WORDS = (
    (r"multiplied by|times|乘以|乘|×|✕", "*"),
    (r"divided by|over|除以|÷", "/"),
    (r"to the power of|的?次方|\^", "**"),
    (r"\bplus\b|加上|加", "+"),
    (r"\bminus\b|减去|减", "-"),
    (r"(?<=\d)\s*x\s*(?=\d)", "*"),
)
_SUM = re.compile(r"[-(]*\d[\d.]*(?:\s*(?:\*\*|//|[-+*/%])\s*[-(]*\d[\d.]*\)*)+")


def find_sum(question: str) -> str:
    """The arithmetic expression in a question, words of arithmetic included; empty when there is none."""
    text = question.replace(",", "") if re.search(r"\d,\d{3}\b", question) else question
    for words, sign in _WORDS:
        text = re.sub(words, sign, text, flags=re.IGNORECASE)
    text = _DATE.sub(" ", text)
    found = _SUM.search(text)
    return " ".join(found[0].split()) if found else ""


def calculate(scene: Scene) -> Turn:
    results = scene.seen("calculator")
    if not results:
        expression = find_sum(scene.question) or "12*7"
        return without_tools(scene, "calculator") or Turn(
            thinking=scene.say("I leave the sum to the calculator.", "算式交给计算器来算。"),
            calls=(Call.of("calculator", expression=expression),),
        )
    refused = stopped(scene, results)
    if refused:
        return refused
    last = results[-1]
    value = first_line(last.content)
    return Turn(text=value if "=" in value else f"`{last.arguments.get('expression', '')}` = **{value}**")


# --- weather ------------------------------------------------------------------------------------------------------

_CITIES = {
    "Beijing": "北京",
    "Shenzhen": "深圳",
    "Shanghai": "上海",
    "Guangzhou": "广州",
    "Hangzhou": "杭州",
    "Chengdu": "成都",
    "Chongqing": "重庆",
    "Wuhan": "武汉",
    "Xi'an": "西安",
    "Harbin": "哈尔滨",
    "Kunming": "昆明",
    "Hong Kong": "香港",
    "Taipei": "台北",
    "Tokyo": "东京",
    "Seoul": "首尔",
    "Singapore": "新加坡",
    "Sydney": "悉尼",
    "London": "伦敦",
    "Paris": "巴黎",
    "Berlin": "柏林",
    "Moscow": "莫斯科",
    "New York": "纽约",
    "San Francisco": "旧金山",
    "Rome": "罗马",
    "Madrid": "马德里",
}
_SAMPLE_CITIES = ["Beijing", "Shenzhen"]
_CHINESE_CONDITIONS = {
    "thunder shower": "雷阵雨",
    "thunderstorm": "雷暴",
    "partly cloudy": "多云间晴",
    "light rain": "小雨",
    "overcast": "阴",
    "shower": "阵雨",
    "cloudy": "多云",
    "clear": "晴",
    "sunny": "晴",
    "rain": "雨",
    "snow": "雪",
    "fog": "雾",
}
# Points taken off for the sky; the first word that fits decides.
_SKY_PENALTIES = (
    ("thunder", 40),
    ("storm", 40),
    ("snow", 30),
    ("rain", 25),
    ("shower", 25),
    ("fog", 12),
    ("overcast", 6),
)
_PLEASANT_C = 23
_CONDITION = re.compile(r"condition:\s*(.+)", re.IGNORECASE)
_TEMPERATURE = re.compile(r"temperature:\s*(-?\d+(?:\.\d+)?)", re.IGNORECASE)
_CITY = re.compile(r"city:\s*(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Report:
    city: str
    condition: str
    temperature: float

    @property
    def score(self) -> float:
        sky = next((loss for word, loss in _SKY_PENALTIES if word in self.condition.lower()), 0)
        return 100 - sky - 2 * abs(self.temperature - _PLEASANT_C)

    def words(self, scene: Scene) -> str:
        condition = self.condition
        if scene.chinese:
            condition = next((zh for en, zh in _CHINESE_CONDITIONS.items() if en in condition.lower()), condition)
        return scene.say(f"{condition}, {self.temperature:g} °C", f"{condition}，{self.temperature:g} °C")

    def name(self, scene: Scene) -> str:
        return scene.say(self.city, _CITIES.get(self.city, self.city))


def named_cities(question: str) -> list[str]:
    """The cities that a question names, in its order."""
    lowered = question.lower()
    places = {city: max(lowered.find(city.lower()), question.find(chinese)) for city, chinese in _CITIES.items()}
    return sorted((city for city, at in places.items() if at >= 0), key=lambda city: places[city])


def compare_weather(scene: Scene) -> Turn:
    lacking = without_tools(scene, "weather")
    if lacking:
        return lacking
    if "current_time" in scene.tools and not scene.seen("current_time"):
        return Turn(
            thinking=scene.say("“Today” first: which day is it?", "先确认“今天”是哪一天。"),
            calls=(Call.of("current_time"),),
        )
    results = scene.seen("weather")
    if not results:
        cities = named_cities(scene.question) or _SAMPLE_CITIES
        return Turn(
            thinking=scene.say(
                f"I need the weather of {' and '.join(cities)}. No call needs another, so I ask at once.",
                f"需要查询{'、'.join(_CITIES[city] for city in cities)}的天气。几次查询互不依赖，可以同时进行。",
            ),
            calls=tuple(Call.of("weather", city=city) for city in cities),
        )
    return _weather_answer(scene, results)


def _report(one: Seen) -> _Report | None:
    condition, temperature = _CONDITION.search(one.content), _TEMPERATURE.search(one.content)
    if one.fate is not Fate.DONE or not condition or not temperature:
        return None
    city = _CITY.search(one.content)
    name = city[1].strip() if city else str(one.arguments.get("city", "?"))
    return _Report(name, condition[1].strip(), float(temperature[1]))


def _weather_answer(scene: Scene, results: list[Seen]) -> Turn:
    reports = [report for report in map(_report, results) if report]
    unusable = [one for one in results if _report(one) is None]
    if not reports:
        refused = stopped(scene, results)
        return refused or Turn(text="\n".join(first_line(one.content) for one in results))
    ranked = sorted(reports, key=lambda report: -report.score)
    best, others = ranked[0], ranked[1:]
    lines = [_verdict(scene, best, others)]
    lines += ["", *(f"- **{report.name(scene)}**: {report.words(scene)}" for report in reports)] if others else []
    for one in unusable:
        city = str(one.arguments.get("city", ""))
        reason = first_line(one.content)
        lines.append(scene.say(f"- {city}: no data ({reason})", f"- {_CITIES.get(city, city)}：没有数据（{reason}）"))
    return Turn(
        thinking=scene.say(
            "The results are in; now I compare sky and temperature.", "结果已返回，现在比较天气状况和气温。"
        ),
        text="\n".join(lines + changes_by_people(scene, results)),
    )


def _verdict(scene: Scene, best: _Report, others: list[_Report]) -> str:
    if not others:
        fit = best.score >= 75
        return scene.say(
            f"**{best.city}** today: {best.words(scene)}. {'Good' if fit else 'Not good'} for outdoor activity.",
            f"**{best.name(scene)}**今天：{best.words(scene)}。{'适合' if fit else '不太适合'}户外活动。",
        )
    if best.score == others[0].score:
        return scene.say("For outdoor activity there is no difference today:", "今天就户外活动而言没有差别：")
    in_brackets = scene.say("{} ({})", "{}（{}）")
    rest = scene.say(" and ", "和").join(in_brackets.format(o.name(scene), o.words(scene)) for o in others)
    return scene.say(
        f"For outdoor activity today, choose **{best.city}** ({best.words(scene)}) over {rest}.",
        f"今天户外活动建议选择**{best.name(scene)}**（{best.words(scene)}），而不是{rest}。",
    )
