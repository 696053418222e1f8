// Options are searched as people type them: without this, `--bos` means "no page with bos".
document.addEventListener(
  "input",
  (event) => {
    if (event.target.matches('[data-md-component="search-query"]')) {
      event.target.value = event.target.value.replace(/(^|\s)-+(?=\w)/g, "$1");
    }
  },
  true,
);
