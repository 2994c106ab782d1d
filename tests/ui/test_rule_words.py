"""A rule as it is recorded, in the reader's language."""

from django.utils.translation import override

from agentweb.ui.templatetags.ui import rule_words


def test_a_card_in_chinese_says_in_chinese_why_it_asks():
    with override("zh-hans"):
        told = rule_words("default v1: write_* at medium risk → ask; one level higher after untrusted text")
    assert told == "default v1: write_* 中风险 → 询问; 读到不可信内容后提高一级"
