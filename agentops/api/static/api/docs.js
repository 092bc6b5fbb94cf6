// Starts the documentation pages; a file of its own because the policy allows no inline script.
const root = document.getElementById("docs");
SwaggerUIBundle({ domNode: root, url: root.dataset.schema, deepLinking: true, validatorUrl: null });
