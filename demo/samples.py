"""What stands in the ledger of a new demo: suppliers, and invoices that nobody has touched."""

from uuid import UUID

from agentops.tenancy.transaction import tenant_transaction
from demo.models import Invoice, Supplier

WAITING, FINISHED, REFUSED = "INV-0901", "INV-0902", "INV-0903"
_SUPPLIERS = (
    ("SUP-1", "Northwind Papers Ltd", "GB29 NWBK 6016 1331 9268 19", True),
    ("SUP-2", "Lindqvist Verktyg AB", "SE45 5000 0000 0583 9825 7466", True),
    ("SUP-3", "Baumann Druck GmbH", "DE89 3704 0044 0532 0130 00", True),
    ("SUP-4", "Atelier Moreau SARL", "FR14 2004 1010 0505 0001 3M02 606", True),
    ("SUP-5", "Quick Parts Trading", "LT12 1000 0111 0100 1000", False),
)
_GOODS = ("Paper and toner", "Workshop tools", "Brochures, second edition", "Shop window design", "Spare parts")
# The refused one asks for money to an account that is not its supplier's.
_STORIES = (
    (WAITING, 0, "Office supplies, October", "12400.00", ""),
    (FINISHED, 1, "Maintenance contract", "1890.50", ""),
    (REFUSED, 2, "Catalogues, corrected bank details", "7420.00", "LT60 1010 0123 4567 8901"),
)


def fill(tenant_id: UUID) -> None:
    """Whatever is missing; what is there stays as it is."""
    with tenant_transaction(tenant_id):
        rows = [
            Supplier(tenant_id=tenant_id, number=n, name=name, account=a, approved=ok) for n, name, a, ok in _SUPPLIERS
        ]
        Supplier.objects.bulk_create(rows, ignore_conflicts=True)
        known = {row.number: row for row in Supplier.objects.filter(tenant_id=tenant_id)}
        suppliers = [known[number] for number, *_ in _SUPPLIERS]
        invoices = [*_told(suppliers), *_untouched(suppliers)]
        Invoice.objects.bulk_create(invoices, ignore_conflicts=True)


def _told(suppliers: list[Supplier]) -> list[Invoice]:
    return [
        _invoice(number, suppliers[which], description, amount, account)
        for number, which, description, amount, account in _STORIES
    ]


def _untouched(suppliers: list[Supplier]) -> list[Invoice]:
    return [
        _invoice(f"INV-{1000 + n}", suppliers[n % 5], _GOODS[n % 5], f"{n * 613 + 87}.{n * 7 % 100:02d}", "")
        for n in range(1, 21)
    ]


def _invoice(number: str, supplier: Supplier, description: str, amount: str, account: str) -> Invoice:
    return Invoice(
        tenant_id=supplier.tenant_id,
        number=number,
        supplier=supplier,
        description=description,
        amount=amount,
        currency="EUR",
        account=account or supplier.account,
    )
