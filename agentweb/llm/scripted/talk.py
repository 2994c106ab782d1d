"""What the scripted model says without tools: what it is, what it can show, and a long text."""

from agentweb.llm.scripted.scene import Scene
from agentweb.llm.scripted.turn import Turn

_CAN_SHOW = (
    ("What is the date today?", "今天是几号？"),
    (
        "Compare today's weather in Beijing and Shenzhen for outdoor activity",
        "比较今天北京和深圳的天气，哪里更适合户外活动",
    ),
    ("What is 12*7?", "12*7 等于多少？"),
    ("Make a snake game", "写一个贪吃蛇游戏"),
    ("Find and remove the unused dependencies of the project", "找出并移除项目中未使用的依赖"),
    ("Make the TypeScript configuration strict", "把 TypeScript 配置改为严格模式"),
    ("Delete the files in the workspace", "删除工作区里的文件"),
    ("Show a failing tool", "演示一个失败的工具"),
    ("Show a call with malformed arguments", "演示参数损坏的调用"),
    ("Write a long text", "写一篇长文"),
)


def introduce(scene: Scene) -> Turn:
    questions = "\n".join(f"- {scene.say(english, chinese)}" for english, chinese in _CAN_SHOW)
    return Turn(
        thinking=scene.say("No script fits this question.", "没有脚本与这个问题匹配。"),
        text=scene.say(
            "I am a scripted model, not an AI: I follow a script, with real tools and real approvals, to show how this "
            f"works without a key. Try one of these, in your own words:\n\n{questions}\n\nFor anything else, an admin "
            "can connect a real model.",
            f"我是一个脚本模型，不是 AI：我按脚本行事，但工具和审批都是真实的，用来在没有密钥的情况下演示系统。"
            f"可以用自己的话试试这些：\n\n{questions}\n\n其他问题请让管理员连接一个真实的模型。",
        ),
    )


_ENGLISH_TOPICS = (
    ("Why write things down", "A note outlives the conversation that made it"),
    ("Small steps", "A change that fits on one screen can be understood by one person"),
    ("Names", "A good name saves the comment that a bad one needs"),
    ("Tests", "A test is a claim about the future, made in the present"),
    ("Errors", "An error message is read by somebody who is already annoyed"),
    ("Review", "A second pair of eyes finds what the first pair wanted to be true"),
    ("Waiting", "Most of the time of a slow program is spent waiting for another one"),
    ("Undo", "People dare more when they know the way back"),
    ("Measuring", "A figure ends a discussion that opinions only prolong"),
    ("Stopping", "The stop button must work best when everything else works worst"),
)
_CHINESE_TOPICS = (
    ("为什么要写下来", "笔记比产生它的谈话活得更久"),
    ("小步前进", "能放进一屏的改动，一个人就能看懂"),
    ("命名", "好名字省去了坏名字所需的注释"),
    ("测试", "测试是在现在对未来作出的断言"),
    ("错误", "读错误信息的人往往已经不耐烦了"),
    ("评审", "第二双眼睛能看到第一双眼睛不愿看到的东西"),
    ("等待", "慢程序的大部分时间都在等待另一个程序"),
    ("撤销", "知道退路的人更敢于尝试"),
    ("测量", "数字能结束观点只会拖长的争论"),
    ("停止", "其他一切都出问题时，停止按钮必须最好用"),
)
_ENGLISH_PARAGRAPH = (
    "{thought}. That sounds obvious, and yet it is the first thing to be given up when time is short. Those who keep "
    "to it are not slower: they spend the time once, where it is cheap, and not three times later, where it is dear. "
    "It helps to ask **who will read this next**, and what that person will *not* know. The answer is nearly always "
    "“me, in half a year”, and nearly always “more than I think”."
)
_CHINESE_PARAGRAPH = (
    "{thought}。这听起来理所当然，却往往是时间紧张时最先被放弃的东西。坚持这样做的人并不慢：他们只在便宜的时候花一次时间，"
    "而不是在昂贵的时候花三次。不妨问一问**接下来谁会读到它**，以及那个人*不*知道什么。答案几乎总是“半年后的我”，"
    "也几乎总是“比我想的要多”。"
)
_CODE = """\
```python
def steps(total: int, size: int) -> list[range]:
    \"\"\"Cut a long piece of work into steps that can be stopped between.\"\"\"
    return [range(at, min(at + size, total)) for at in range(0, total, size)]


for number, step in enumerate(steps({number}00, 25), start=1):
    print(number, len(step))
```"""


def write_long(scene: Scene) -> Turn:
    """About 1,500 tokens of markdown: time enough to look at streaming and at the stop button."""
    topics = _CHINESE_TOPICS if scene.chinese else _ENGLISH_TOPICS
    parts = [
        scene.say("# Ten habits\n\nA long text, to watch it arrive.", "# 十个习惯\n\n一篇长文，可以看着它逐字出现。")
    ]
    for number, (title, thought) in enumerate(topics, start=1):
        parts.append(f"## {number}. {title}")
        parts.append(scene.say(_ENGLISH_PARAGRAPH, _CHINESE_PARAGRAPH).format(thought=thought))
        if number in (2, 6):
            parts.append(_CODE.format(number=number))
    parts.append(scene.say("## In one table", "## 一张表"))
    rows = "\n".join(f"| {number} | {title} | {thought} |" for number, (title, thought) in enumerate(topics, start=1))
    parts.append(
        scene.say("| # | habit | in a sentence |", "| 序号 | 习惯 | 一句话 |") + f"\n| --- | --- | --- |\n{rows}"
    )
    parts.append(scene.say("That was all of it.", "全文完。"))
    return Turn(thinking=scene.say("A long text was asked for.", "需要一篇长文。"), text="\n\n".join(parts))
