"""The addresses of the audit."""

from django.urls import path

from agentweb.audit import views

urlpatterns = [
    path("", views.runs, name="audit"),
    path("runs/<uuid:public_id>/", views.run, name="audit_run"),
    path("runs/<uuid:public_id>/requests/<int:number>", views.model_request, name="audit_request"),
]
