
import agentweb.registry.validators
import django.core.validators
import django.db.models.deletion
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChatModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=100, unique=True, verbose_name='name')),
                ('kind', models.CharField(choices=[('openai', 'OpenAI-compatible endpoint'), ('scripted', 'Scripted, not an AI')], default='openai', max_length=10, verbose_name='kind')),
                ('base_url', models.CharField(blank=True, max_length=500, validators=[agentweb.registry.validators.http_address], verbose_name='base URL')),
                ('encrypted_key', models.TextField(blank=True, editable=False)),
                ('key_hint', models.CharField(blank=True, editable=False, max_length=4, verbose_name='key ends with')),
                ('model_name', models.CharField(blank=True, max_length=200, verbose_name='model name')),
                ('temperature', models.FloatField(blank=True, default=0, help_text='Empty: not sent, for models that refuse it.', null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(2)], verbose_name='temperature')),
                ('context_size', models.PositiveIntegerField(default=128000, validators=[django.core.validators.MinValueValidator(1)], verbose_name='context size, tokens')),
                ('input_price', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)], verbose_name='price per million input tokens')),
                ('cached_price', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)], verbose_name='price per million cached tokens')),
                ('output_price', models.DecimalField(decimal_places=6, default=0, max_digits=12, validators=[django.core.validators.MinValueValidator(0)], verbose_name='price per million output tokens')),
                ('idle_timeout_s', models.PositiveIntegerField(default=60, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(86400)], verbose_name='longest silence, seconds')),
                ('total_timeout_s', models.PositiveIntegerField(default=600, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(86400)], verbose_name='longest answer, seconds')),
                ('headers', models.JSONField(blank=True, default=dict, validators=[agentweb.registry.validators.headers], verbose_name='extra headers')),
                ('body', models.JSONField(blank=True, default=dict, help_text='Merged over the request and recorded with each run: nothing secret here.', validators=[agentweb.registry.validators.body], verbose_name='extra body fields')),
                ('strict_roles', models.BooleanField(default=False, verbose_name='roles must alternate')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
            ],
            options={
                'verbose_name': 'model',
                'verbose_name_plural': 'models',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Policy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, editable=False, verbose_name='version')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
            ],
            options={
                'verbose_name': 'policy',
                'verbose_name_plural': 'policies',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Tool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64, unique=True, verbose_name='name')),
                ('label', models.CharField(max_length=100, verbose_name='label')),
                ('description', models.TextField(verbose_name='description for the model')),
                ('risk', models.CharField(choices=[('low', 'Low'), ('medium', 'Medium'), ('high', 'High')], default='high', max_length=6, verbose_name='risk level')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('timeout_s', models.PositiveIntegerField(default=60, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(86400)], verbose_name='time-out, seconds')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
            ],
            options={
                'verbose_name': 'tool',
                'verbose_name_plural': 'tools',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('description', models.CharField(blank=True, max_length=300, verbose_name='description')),
                ('instructions', models.TextField(blank=True, verbose_name='instructions')),
                ('max_turns', models.PositiveSmallIntegerField(default=10, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(200)], verbose_name='turn limit')),
                ('sequential', models.BooleanField(default=False, verbose_name='one tool at a time')),
                ('loop_guard', models.BooleanField(default=True, help_text='Then the agent is told to change its method, next people are asked, at last it must sum up.', verbose_name='notice when it goes in circles')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='agents', to='teams.team', verbose_name='team')),
                ('model', models.ForeignKey(blank=True, help_text='Empty: the model named default, or the scripted one.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='registry.chatmodel', verbose_name='model')),
                ('tools', models.ManyToManyField(blank=True, related_name='agents', to='registry.tool', verbose_name='tools')),
            ],
            options={
                'verbose_name': 'agent',
                'verbose_name_plural': 'agents',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('scope', models.CharField(choices=[('all', 'Everyone together'), ('team', 'Team'), ('agent', 'Agent'), ('user', 'Person')], default='all', max_length=5, verbose_name='of')),
                ('period', models.CharField(choices=[('run', 'Each run'), ('month', 'Calendar month')], default='month', max_length=5, verbose_name='in')),
                ('unit', models.CharField(choices=[('tokens', 'Tokens'), ('cost', 'Money'), ('seconds', 'Seconds of work')], default='tokens', max_length=7, verbose_name='counted in')),
                ('limit', models.DecimalField(decimal_places=6, max_digits=18, validators=[django.core.validators.MinValueValidator(Decimal('0.000001'))], verbose_name='limit')),
                ('soft_percent', models.PositiveSmallIntegerField(blank=True, default=80, help_text='People are asked then whether a run may go on, and with how much more. Empty: never.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(99)], verbose_name='ask at, percent')),
                ('deciders', models.CharField(choices=[('admins', 'Admins of the team'), ('chats', 'Whoever decides about calls')], default='admins', max_length=6, verbose_name='who decides')),
                ('enabled', models.BooleanField(default=True, verbose_name='enabled')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('agent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='registry.agent', verbose_name='agent')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='teams.team', verbose_name='team')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to=settings.AUTH_USER_MODEL, verbose_name='person')),
            ],
            options={
                'verbose_name': 'budget',
                'verbose_name_plural': 'budgets',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='GoalCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='position')),
                ('kind', models.CharField(choices=[('file', 'A file exists'), ('json', 'JSON fits a schema'), ('text', 'Text matches a pattern'), ('function', 'A Python function is content')], max_length=8, verbose_name='kind')),
                ('label', models.CharField(blank=True, help_text='Shown to people and told to the model; empty: made up.', max_length=200, verbose_name='name')),
                ('path', models.CharField(blank=True, help_text='In the workspace. Empty: the answer itself is looked at.', max_length=500, validators=[agentweb.registry.validators.file_path], verbose_name='file')),
                ('schema', models.JSONField(blank=True, default=dict, validators=[agentweb.registry.validators.json_schema], verbose_name='JSON Schema')),
                ('pattern', models.CharField(blank=True, max_length=1000, validators=[agentweb.registry.validators.text_pattern], verbose_name='pattern')),
                ('function', models.CharField(blank=True, help_text='Dotted path; called with the answer and the workspace. None or True: content.', max_length=300, validators=[agentweb.registry.validators.goal_function], verbose_name='function')),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='goals', to='registry.agent', verbose_name='agent')),
            ],
            options={
                'verbose_name': 'goal check',
                'verbose_name_plural': 'goal checks',
                'ordering': ['agent', 'position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='PolicyRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='position')),
                ('tool', models.CharField(default='*', help_text='A tool name; * stands for any characters.', max_length=100, validators=[agentweb.registry.validators.tool_pattern], verbose_name='tools')),
                ('risk', models.CharField(blank=True, choices=[('low', 'Low'), ('medium', 'Medium'), ('high', 'High')], help_text='Empty: every level.', max_length=6, verbose_name='risk level')),
                ('verdict', models.CharField(choices=[('allow', 'Run'), ('ask', 'Ask'), ('deny', 'Refuse')], max_length=5, verbose_name='verdict')),
                ('requires_comment', models.BooleanField(default=False, verbose_name='a comment is required')),
                ('reason', models.CharField(blank=True, help_text='Told to the model when the call is refused.', max_length=300, verbose_name='reason')),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='registry.policy', verbose_name='policy')),
            ],
            options={
                'verbose_name': 'rule',
                'verbose_name_plural': 'rules',
                'ordering': ['policy', 'position', 'pk'],
            },
        ),
    ]
