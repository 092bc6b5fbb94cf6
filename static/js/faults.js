// A refused form begins at its first fault: the admin's own script puts the focus on the first field.
addEventListener("load", () => document.querySelector('[aria-invalid="true"]')?.focus());
