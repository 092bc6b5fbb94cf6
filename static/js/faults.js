// A refused form begins at its first fault, also in the admin, whose own script puts the focus on the first field.
addEventListener("load", () => document.querySelector('[aria-invalid="true"]')?.focus());
