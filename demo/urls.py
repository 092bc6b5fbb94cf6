"""The ledger's addresses: its REST as contracts name it, its pages beside that."""

from django.urls import path

from demo import api, pages

urlpatterns = [
    path("", pages.ledger, name="demo-ledger"),
    path("pages/invoices/<str:number>", pages.invoice_page, name="demo-invoice"),
    path("pages/runs", pages.start, name="demo-start"),
    path("invoices", api.Invoices.as_view()),
    path("invoices/<str:number>", api.OneInvoice.as_view()),
    path("suppliers/<str:number>", api.OneSupplier.as_view()),
    path("payments", api.Payments.as_view()),
    path("notes", api.Notes.as_view()),
]
