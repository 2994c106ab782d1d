"""The addresses of websockets."""

from django.urls import path

from agentweb.chat.consumers import ConversationConsumer

websocket_urlpatterns = [
    path("ws/conversations/<uuid:conversation>/", ConversationConsumer.as_asgi()),
]
