"""A sample tool: weather that needs no network and is the same every day."""

from dataclasses import dataclass

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolError
from agentweb.toolbox.tool import tool


@dataclass(frozen=True, slots=True)
class Weather:
    """Temperature in °C, relative humidity in %, wind in km/h. ``names`` are other ways to write the city."""

    city: str
    names: tuple[str, ...]
    condition: str
    temperature: int
    humidity: int
    wind: int


SAMPLES = (
    Weather("Beijing", ("北京", "peking"), "clear", 26, 40, 12),
    Weather("Shenzhen", ("深圳",), "thunder shower", 31, 88, 24),
    Weather("Shanghai", ("上海",), "cloudy", 28, 70, 16),
    Weather("Guangzhou", ("广州", "廣州", "canton"), "light rain", 30, 84, 14),
    Weather("Hangzhou", ("杭州",), "partly cloudy", 27, 65, 10),
    Weather("Chengdu", ("成都",), "overcast", 24, 76, 6),
    Weather("Chongqing", ("重庆", "重慶"), "fog", 25, 82, 5),
    Weather("Wuhan", ("武汉", "武漢"), "cloudy", 29, 68, 11),
    Weather("Xi'an", ("西安", "xian", "xi’an"), "clear", 27, 38, 9),
    Weather("Harbin", ("哈尔滨", "哈爾濱"), "partly cloudy", 19, 52, 18),
    Weather("Kunming", ("昆明",), "clear", 21, 55, 8),
    Weather("Hong Kong", ("香港", "hongkong"), "shower", 30, 85, 20),
    Weather("Taipei", ("台北", "臺北"), "partly cloudy", 29, 74, 13),
    Weather("Tokyo", ("东京", "東京"), "light rain", 22, 78, 15),
    Weather("Seoul", ("首尔", "首爾", "서울"), "clear", 23, 48, 10),
    Weather("Singapore", ("新加坡",), "thunder shower", 31, 83, 11),
    Weather("Sydney", ("悉尼", "雪梨"), "clear", 17, 50, 22),
    Weather("London", ("伦敦", "倫敦"), "light rain", 15, 80, 19),
    Weather("Paris", ("巴黎",), "cloudy", 18, 66, 14),
    Weather("Berlin", ("柏林",), "partly cloudy", 17, 58, 17),
    Weather("Rome", ("罗马", "羅馬", "roma"), "clear", 25, 45, 9),
    Weather("Madrid", ("马德里", "馬德里"), "clear", 29, 30, 8),
    Weather("Moscow", ("莫斯科",), "overcast", 12, 72, 16),
    Weather("New York", ("纽约", "紐約", "nyc", "new york city"), "clear", 21, 54, 18),
    Weather("San Francisco", ("旧金山", "舊金山", "三藩"), "fog", 16, 81, 21),
)
_BY_NAME = {name.casefold(): sample for sample in SAMPLES for name in (sample.city, *sample.names)}


@tool(label="Weather (sample data)", reads=True, repeatable=True, deterministic=True, risk=Risk.LOW, timeout_s=10)
def weather(city: str) -> str:
    """The weather in one city today. This is sample data for about twenty well-known cities, not a real forecast.

    Args:
        city: Name of one city, in English or Chinese, such as Beijing or 深圳.
    """
    sample = _BY_NAME.get(_plain(city))
    if sample is None:
        known = ", ".join(each.city for each in SAMPLES[:6])
        raise ToolError(f'There is no sample weather for "{city[:60]}". Known are {known} and {len(SAMPLES) - 6} more.')
    return "\n".join(
        (
            f"City: {sample.city}",
            f"Condition: {sample.condition}",
            f"Temperature: {sample.temperature} °C",
            f"Humidity: {sample.humidity} %",
            f"Wind: {sample.wind} km/h",
            "Source: sample data",
        )
    )


def _plain(city: str) -> str:
    """The bare name, without a country after a comma and without 市."""
    name = city.replace("，", ",").split(",")[0]
    return " ".join(name.split()).removesuffix("市").casefold()
