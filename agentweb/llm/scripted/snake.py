"""A scripted task: a snake game in three files, each of which a person approves."""

from agentweb.llm.scripted.phrases import changes_by_people, stopped, without_tools
from agentweb.llm.scripted.scene import Scene
from agentweb.llm.scripted.snake_files import SNAKE_FILES
from agentweb.llm.scripted.turn import Call, Turn


def make_snake(scene: Scene) -> Turn:
    results = scene.seen("write_file")
    if not results:
        return without_tools(scene, "write_file") or Turn(
            thinking=scene.say(
                "Three files: the page, its style and the script. Nothing inline, as a strict content policy wants it.",
                "需要三个文件：页面、样式和脚本。不使用内联代码，这样在严格的内容策略下也能运行。",
            ),
            text=scene.say("I will write the game as three files.", "我会把游戏写成三个文件。"),
            calls=tuple(Call.of("write_file", path=path, content=content) for path, content in SNAKE_FILES.items()),
        )
    halted = stopped(scene, results)
    if halted:
        return halted
    files = [f"- `{one.path}`" for one in results]
    opened = next((one.path for one in results if one.path.endswith(".html")), "snake.html")
    return Turn(
        text="\n".join(
            [
                scene.say("The snake game is ready. These files were written:", "贪吃蛇游戏已完成，写入了以下文件："),
                "",
                *files,
                *changes_by_people(scene, results),
                "",
                scene.say(
                    f"Download them into one folder and open `{opened}`: arrow keys or WASD steer, space pauses.",
                    f"把它们下载到同一个文件夹并打开 `{opened}`：方向键或 WASD 控制，空格键暂停。",
                ),
            ]
        )
    )
