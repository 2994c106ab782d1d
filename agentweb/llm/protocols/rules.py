"""What models are told about the form of their replies, protocol by protocol, and what they are told when it is wrong.

What holds for every protocol (change the method after a failure, invent nothing, finish as soon as enough is known) is
in the agent's own prompt; here is what only these forms need, said once more where small models forget it.
"""

TEXT_OPENING = (
    "You use tools in lines of text. Each of your replies has one of these two forms, and nothing else in it."
)
TEXT_RULES = f"""\
{TEXT_OPENING}

To use a tool:
Thought: why you need this tool now
Action: the name of one tool from the list below
Action Input: its arguments as one JSON object

To answer:
Thought: why you know enough
Final Answer: the answer to the person, as long as it needs to be

Rules:
- One tool at a time: one Action in a reply, and nothing behind its Action Input. The next message brings the result, \
which begins with "Observation:".
- Never write an Observation yourself. What no Observation says, you do not know.
- Action and Final Answer never stand in the same reply.
- Act only from a clear Thought. When a call fails, change the method; never repeat the same failing call.
- As soon as you know enough, give the Final Answer."""

JSON_OPENING = (
    "You use tools by JSON. Each of your replies is one JSON object in one of these two forms, and nothing else."
)
JSON_RULES = f"""\
{JSON_OPENING}

To use a tool:
{{"thought": "why you need this tool now", "step": "CALL_TOOL", "tool_name": "the name of one tool", "arguments": {{}}}}

To answer:
{{"thought": "why you know enough", "step": "FINISH", "final_answer": "the answer to the person"}}

Rules:
- One tool at a time: one object in a reply. The next message brings the result of the tool.
- Never write a result yourself. What no result says, you do not know.
- Act only from a clear thought. When a call fails, change the method; never repeat the same failing call.
- As soon as you know enough, use the step FINISH. Only final_answer is shown to the person; it may hold Markdown."""

TOOLS = "The tools, one JSON object in a line:"
INVENTED = "(What you wrote yourself where only a result may stand was left out and did not happen.)"

_TEXT_FORMS = (
    'Write lines that begin with "Thought:", "Action:" and "Action Input:", or with "Thought:" and "Final Answer:".'
)
TEXT_BOTH = f"The rule: Action and Final Answer never stand in the same reply. {_TEXT_FORMS}"
TEXT_NEITHER = f"There was neither an Action nor a Final Answer in it. {_TEXT_FORMS}"
TEXT_NO_TOOL = f"It was not clear which tool the Action names. {_TEXT_FORMS}"

JSON_FORMS = (
    'Write one JSON object: {"thought": "…", "step": "CALL_TOOL", "tool_name": "…", "arguments": {…}} or '
    '{"thought": "…", "step": "FINISH", "final_answer": "…"}.'
)
JSON_NONE = f"There was no JSON object in it. {JSON_FORMS}"
JSON_BOTH = (
    f"The rule: a tool and a final answer never stand in the same reply without a step that chooses. {JSON_FORMS}"
)
JSON_STEP = f"The step must be CALL_TOOL or FINISH. {JSON_FORMS}"
JSON_NO_TOOL = f"The step CALL_TOOL needs a tool_name. {JSON_FORMS}"
JSON_NO_ANSWER = f"The step FINISH needs a final_answer. {JSON_FORMS}"
