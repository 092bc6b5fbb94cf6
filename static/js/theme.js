// Takes the theme that the person chose, before the first pixel is painted; on pages whose template cannot.
const theme = document.cookie.match(/(?:^|; )theme=(light|dark)/);
if (theme) document.documentElement.dataset.theme = theme[1];
