"""The scripted model plays the example tasks from what the tools really say, in both languages."""

import re

import pytest

from agentweb.engine import sentences
from agentweb.engine.enums import Purpose, ResultKind
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.llm.config import ToolProtocol
from agentweb.llm.scripted import everyday, files, projects, snake, talk
from agentweb.llm.scripted.brain import find_task
from agentweb.llm.scripted.model import ScriptedModel
from tests.llm.acting import BEIJING, SHENZHEN, Desk, play
from tests.llm.asking import ask, request


@pytest.mark.parametrize(
    "question",
    [
        "What is the date today?",
        "which day is it?",
        "Tell me today's date please",
        "what day of the week is it today",
        "今天是几号？",
        "请问现在几点了",
        "今天星期几",
    ],
)
async def test_the_date_takes_one_call_and_two_model_calls(question):
    told = await play(question, Desk())
    assert told.names == [["current_time"]]
    assert told.model_calls == 2
    assert re.search("2025-03-04|2025年3月4日", told.answer)


@pytest.mark.parametrize(
    "question",
    [
        "Compare today's weather in Beijing and Shenzhen for outdoor activity",
        "Should I go running outdoors in Shenzhen or rather in Beijing today?",
        "比较今天北京和深圳的天气，哪个更适合户外活动？",
        "今天去北京还是深圳户外运动好，看看天气",
    ],
)
async def test_the_better_weather_wins(question):
    told = await play(question, Desk())
    assert 3 <= told.model_calls <= 5
    assert sorted(call for turn in told.names for call in turn) == ["current_time", "weather", "weather"]
    assert ["weather", "weather"] in told.names, "asked at once"
    better, worse = ("北京", "深圳") if "北京" in question else ("Beijing", "Shenzhen")
    assert told.answer.index(better) < told.answer.index(worse)
    assert "26 °C" in told.answer and "31 °C" in told.answer


async def test_the_answer_turns_round_when_the_weather_does():
    desk = Desk(
        weather={"Beijing": SHENZHEN.replace("Shenzhen", "Beijing"), "Shenzhen": BEIJING.replace("Beijing", "Shenzhen")}
    )
    told = await play("Compare today's weather in Beijing and Shenzhen for outdoor activity", desk)
    assert "choose **Shenzhen**" in told.answer


async def test_a_city_without_data_is_named_and_the_rest_is_answered():
    desk = Desk(weather={"Beijing": BEIJING})
    told = await play("Compare the weather in Beijing and Shenzhen", desk)
    assert "**Beijing**" in told.answer and "Shenzhen: no data" in told.answer


@pytest.mark.parametrize(
    ("question", "expression", "answer"),
    [
        ("What is 12*7?", "12*7", "84"),
        ("how much is 12 times 7", "12*7", "84"),
        ("Calculate (3 + 4) * 2", "(3 + 4) * 2", "14"),
        ("12 乘以 7 等于多少", "12*7", "84"),
        ("3加4等于几", "3+4", "7"),
        ("12*7", "12*7", "84"),
    ],
)
async def test_sums_go_to_the_calculator(question, expression, answer):
    told = await play(question, Desk())
    assert told.names == [["calculator"]]
    assert told.arguments[0]["expression"].replace(" ", "") == expression.replace(" ", "")
    assert answer in told.answer


@pytest.mark.parametrize(
    "question", ["Make a snake game as snake.html, snake.css, snake.js", "写一个贪吃蛇游戏", "I'd like to play Snake"]
)
async def test_the_snake_game_is_three_files_that_belong_together(question):
    desk = Desk()
    told = await play(question, desk)
    assert told.names == [["write_file"] * 3]
    assert set(desk.files) == {"snake.html", "snake.css", "snake.js"}
    page = desk.files["snake.html"]
    assert 'href="snake.css"' in page and 'src="snake.js"' in page
    assert not re.search(r"<script(?![^>]*src=)|<style|style=|\son\w+=", page)
    ids = set(re.findall(r'getElementById\("(\w+)"\)', desk.files["snake.js"]))
    assert ids and ids <= set(re.findall(r'id="(\w+)"', page))
    assert all(name in told.answer for name in desk.files)


async def test_a_rejected_file_is_said_and_asked_about():
    desk = Desk(rejects={"snake.js": "no games at work"})
    told = await play("Make a snake game", desk)
    assert "rejected" in told.answer and "no games at work" in told.answer and told.answer.rstrip().endswith("?")
    assert "`write_file` (snake.html)" in told.answer


async def test_changed_arguments_are_followed():
    desk = Desk(changes={"snake.js": {"path": "worm.js"}})
    told = await play("Make a snake game", desk)
    assert "`worm.js`" in told.answer and "Ann changed" in told.answer and "- `snake.js`" not in told.answer


@pytest.mark.parametrize(
    "question",
    [
        "Find the unused dependencies of the project and remove them",
        "clean up packages that are not used",
        "找出项目里没用的依赖并移除",
    ],
)
async def test_unused_dependencies_are_found_in_a_sample_project_that_is_made_first(question):
    desk = Desk()
    told = await play(question, desk)
    assert told.names[0] == ["list_files"]
    assert set(told.names[1]) == {"write_file"}, "the sample is put there visibly"
    assert set(told.names[2]) == {"read_file"}
    assert told.names[3] == ["edit_file"]
    manifest = desk.files["pyproject.toml"]
    assert "requests" in manifest and "rich" in manifest and "PyYAML" in manifest
    assert "colorama" not in manifest and "dateutil" not in manifest
    assert "`colorama`" in told.answer and "`python-dateutil`" in told.answer


async def test_unused_dependencies_depend_on_the_project_that_is_there():
    desk = Desk(
        files={"requirements.txt": "flask==3\nattrs>=23\n", "app/main.py": "from flask import Flask\n", "x.md": "hi"}
    )
    told = await play("remove the unused dependencies", desk)
    assert desk.files["requirements.txt"] == "flask==3\n"
    assert "`attrs`" in told.answer and set(desk.files) == {"requirements.txt", "app/main.py", "x.md"}


async def test_nothing_is_removed_where_everything_is_used():
    desk = Desk(files={"requirements.txt": "flask==3\n", "main.py": "import flask\n"})
    told = await play("remove the unused dependencies", desk)
    assert told.names == [["list_files"], ["read_file", "read_file"]]
    assert "nothing to remove" in told.answer


async def test_typescript_becomes_strict_with_a_sample_made_first():
    desk = Desk()
    told = await play("Make the TypeScript configuration strict", desk)
    assert told.names == [["list_files"], ["write_file"], ["read_file"], ["write_file"]]
    assert '"strict": true' in desk.files["tsconfig.json"] and "false" not in desk.files["tsconfig.json"]
    assert "`strict`" in told.answer


@pytest.mark.parametrize(
    "before",
    [
        '{"compilerOptions": {"target": "ES2020"}}',
        "{}",
        '{\n  // mine\n  "compilerOptions": {\n    "strict": false\n  }\n}',
    ],
)
async def test_a_typescript_configuration_that_is_there_is_changed_not_replaced(before):
    desk = Desk(files={"web/tsconfig.json": before})
    told = await play("把 TypeScript 配置改为严格模式", desk)
    after = desk.files["web/tsconfig.json"]
    assert re.search(r'"strict":\s*true', after) and ("// mine" in after) == ("// mine" in before)
    assert told.names == [["list_files"], ["read_file"], ["write_file"]]


async def test_a_failing_tool_does_not_end_the_task():
    told = await play("Show a failing tool", Desk(files={"a.txt": "A"}))
    assert told.names == [["read_file"], ["list_files"]]
    assert "no-such-file.txt" in told.answer and "1 files" in told.answer


async def test_broken_arguments_are_put_right_after_the_refusal():
    told = await play("Show a call with malformed arguments", Desk())
    assert told.names == [["calculator"], ["calculator"]]
    assert told.invalid == 1 and "**42**" in told.answer


async def test_several_risky_calls_come_at_once():
    desk = Desk(files={"a.txt": "A", "b.txt": "B", "c.txt": "C"}, rejects={"b.txt": "still needed"})
    told = await play("Delete the files in the workspace", desk)
    assert told.names == [["list_files"], ["delete_file"] * 3]
    assert set(desk.files) == {"b.txt"}
    assert "still needed" in told.answer


async def test_deleting_names_only_what_was_asked_for():
    desk = Desk(files={"a.txt": "A", "b.txt": "B"})
    await play("please delete a.txt", desk)
    assert set(desk.files) == {"b.txt"}


async def test_a_long_text_is_long_markdown():
    for question in ("Write a long text", "写一篇长文"):
        told = await play(question, Desk())
        assert told.output_tokens > 1000
        assert "```python" in told.answer and "| --- |" in told.answer


async def test_writing_a_note_follows_the_question():
    desk = Desk()
    await play('Write a file todo.md with "buy milk"', desk)
    assert desk.files == {"todo.md": "buy milk\n"}


@pytest.mark.parametrize("question", ["Why is the sky blue?", "hello", "你好", "帮我写首诗"])
async def test_anything_else_is_answered_with_what_it_can_show(question):
    told = await play(question, Desk())
    assert told.names == []
    assert ("not an AI" in told.answer or "不是 AI" in told.answer) and (
        "snake" in told.answer or "贪吃蛇" in told.answer
    )


async def test_a_task_without_its_tools_says_so():
    told = await play("Make a snake game", Desk(tools=("current_time",)))
    assert told.names == [] and "`write_file`" in told.answer


async def test_what_people_add_meanwhile_is_acknowledged():
    told = await play("Make a snake game", Desk(), steering={1: "and make it green"})
    assert "snake.html" in told.answer and "and make it green" in told.answer


@pytest.mark.parametrize(
    ("question", "opening"),
    [("Make a snake game", "Not finished"), ("What is the date today?", "Not finished"), ("今天是几号", "未完成")],
)
async def test_at_the_limit_it_says_what_is_done_and_what_comes_next(question, opening):
    told = await play(question, Desk(), max_turns=1)
    assert told.answer.startswith(opening)
    assert told.model_calls == 2 and len(told.names) == 1
    assert "`" in told.answer


async def test_a_conversation_is_summed_up_line_by_line():
    said = "User Ann: What is the date?\n\nAgent called current_time {}\nResult: 2025-03-04\nTuesday\n\nAgent: The 4th."
    told = await ask(ScriptedModel(delay_s=0), request(said, system=sentences.SUM_UP, purpose=Purpose.FOLD))
    assert told.reply.calls == ()
    assert told.reply.text.split("\n")[-2:] == ["- Result: 2025-03-04", "- Agent: The 4th."]


async def test_working_notes_are_made_where_they_are_wanted():
    asked = request("User Ann: What is the date?", system=sentences.SUM_UP_A_PIECE, purpose=Purpose.FOLD)
    told = await ask(ScriptedModel(delay_s=0), asked)
    assert told.reply.text.endswith("Working notes:\n- User Ann: What is the date?")


async def test_what_stands_for_older_messages_is_no_question():
    summed_up = UserMessage("f1", sentences.summed_up("Compare the weather in Beijing and Shenzhen"))
    asked = request([UserMessage("u1", "What is the date today?"), summed_up], Desk().specs)
    told = await ask(ScriptedModel(delay_s=0), asked)
    assert [call.name for call in told.reply.calls] == ["current_time"]


async def test_the_wrap_up_calls_no_tool_even_when_nothing_was_done():
    outcome = await ask(
        ScriptedModel(delay_s=0),
        request([UserMessage("u", "Make a snake game")], Desk().specs, purpose=Purpose.WRAP_UP),
    )
    assert outcome.reply and outcome.reply.calls == () and outcome.text.startswith("Not finished")
    assert "write_file" in outcome.text


async def test_going_on_after_the_limit_continues_the_task():
    desk = Desk()
    first = await play("Make the TypeScript configuration strict", desk, max_turns=2)
    assert first.answer.startswith("Not finished")
    second = await play("continue", desk, before=first.messages)
    assert second.names == [["read_file"], ["write_file"]]
    assert '"strict": true' in desk.files["tsconfig.json"]


@pytest.mark.parametrize("protocol", ToolProtocol)
@pytest.mark.parametrize(
    "question", ["Make a snake game", "Compare the weather in Beijing and Shenzhen", "清理没用的依赖"]
)
async def test_going_on_in_the_middle_of_several_calls_continues_with_the_next(question, protocol):
    at_once = Desk()
    whole = await play(question, at_once)
    for limit in (1, 2, 3):
        desk, model = Desk(), ScriptedModel(delay_s=0, protocol=protocol)
        told = await play(question, desk, model=model, max_turns=limit)
        done = told.arguments
        for _ in whole.arguments:
            if not told.answer.startswith(("Not finished", "未完成")):
                break
            told = await play("Continue", desk, model=model, before=told.messages, max_turns=limit)
            done = [*done, *told.arguments]
        assert (done, told.answer) == (whole.arguments, whole.answer)
    assert desk.files == at_once.files


async def test_the_same_conversation_gives_the_same_bytes():
    asked = request("Compare the weather in Beijing and Shenzhen", Desk().specs)
    one, other = [await ask(ScriptedModel(delay_s=0, new_id=iter("abcdef").__next__), asked) for _ in range(2)]
    assert one.reply == other.reply
    assert ScriptedModel().prepare(asked).digest == ScriptedModel().prepare(asked).digest


@pytest.mark.parametrize(
    ("task", "questions"),
    [
        (
            everyday.tell_date,
            ["What's today's date?", "Could you tell me what day we have today?", "今天是几月几号", "今天什么日子"],
        ),
        (
            everyday.compare_weather,
            [
                "Where is it better to go hiking today, Beijing or Shenzhen?",
                "Is it going to rain in London?",
                "我想今天去户外走走，北京和深圳哪里合适",
                "周末爬山去北京还是深圳",
            ],
        ),
        (
            everyday.calculate,
            ["What's 3.5 + 4?", "2 to the power of 10 is how much?", "7 x 8", "请计算 15 除以 3", "1+1=?"],
        ),
        (snake.make_snake, ["Create a Snake game with HTML, CSS and JavaScript", "帮我做一个贪吃蛇小游戏"]),
        (
            projects.remove_unused,
            [
                "Which requirements in this project are never imported? Drop them.",
                "Remove packages we don't use",
                "check whether there are dependencies nobody uses",
                "看看哪些依赖没有被用到，删掉它们",
                "清理一下多余的库",
            ],
        ),
        (
            projects.make_strict,
            ["Turn on strict mode in tsconfig.json", "Tighten my TypeScript settings", "启用 TypeScript 严格模式"],
        ),
        (
            files.show_failure,
            ["What happens when a tool fails?", "Please read a file that does not exist", "工具出错会怎样？"],
        ),
        (talk.write_long, ["Tell me a long story", "Write 1500 words about habits", "给我写一篇很长的文章"]),
        (files.delete_files, ["Remove all files", "请把所有文件删了"]),
        (None, ["What can you do?", "Who won the cup in 2020-2021?", "谢谢", "Is the earth flat?"]),
    ],
)
def test_other_words_mean_the_same_task(task, questions):
    assert {question: find_task(question) for question in questions} == dict.fromkeys(questions, task)


async def test_after_a_cancelled_run_a_new_question_is_a_new_one():
    desk = Desk()
    cancelled = [
        UserMessage("u1", "Make a snake game", "Ann"),
        AssistantMessage("a1", "", "", (ToolCall("c1", "write_file", {"path": "snake.html"}),)),
        ToolResult("c1", "Cancelled by the user before it finished; it did not run.", ResultKind.CANCELLED),
    ]
    told = await play("hello", desk, before=cancelled)
    assert "not an AI" in told.answer and told.names == []


async def test_it_understands_questions_when_several_people_speak():
    before = [UserMessage("u1", "hello", "Ben"), AssistantMessage("a1", "Hello.")]
    told = await play("What is 12*7?", Desk(), before=before)
    assert told.answer == "`12*7` = **84**"
