"""The sample weather is the same every day and says that it is a sample."""

from pathlib import Path

import pytest

from agentweb.engine.ports import ToolError
from agentweb.toolbox.weather import SAMPLES, weather
from tests.toolbox.calling import context_in, run


def test_the_weather_has_one_fact_on_each_line(tmp_path: Path) -> None:
    assert run(weather, {"city": "Beijing"}, context_in(tmp_path)) == (
        "City: Beijing\nCondition: clear\nTemperature: 26 °C\nHumidity: 40 %\nWind: 12 km/h\nSource: sample data"
    )


@pytest.mark.parametrize(
    "city", ["Shenzhen", "shenzhen", " SHENZHEN ", "深圳", "深圳市", "Shenzhen, China", "深圳，中国"]
)
def test_a_city_has_many_names(tmp_path: Path, city: str) -> None:
    text = run(weather, {"city": city}, context_in(tmp_path))
    assert "City: Shenzhen\nCondition: thunder shower\nTemperature: 31 °C\n" in text


def test_every_city_answers_to_each_of_its_names_and_no_two_share_one(tmp_path: Path) -> None:
    names = [(name, sample.city) for sample in SAMPLES for name in (sample.city, *sample.names)]
    assert len({name.casefold() for name, _ in names}) == len(names)
    assert len(SAMPLES) > 20
    for name, city in names:
        assert run(weather, {"city": name}, context_in(tmp_path)).startswith(f"City: {city}\n")


@pytest.mark.parametrize("city", ["Atlantis", "", "市", "Beijing and Shenzhen"])
def test_an_unknown_city_is_answered_with_known_ones(tmp_path: Path, city: str) -> None:
    with pytest.raises(ToolError, match="Known are Beijing, Shenzhen, Shanghai"):
        run(weather, {"city": city}, context_in(tmp_path))
