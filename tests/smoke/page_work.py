"""Steps that tests of screens share on which something is changed."""

EDITOR = "document.querySelector('.editor')?.shadowRoot"


class WorkCase:
    def press(self, words):
        self.browser.wait_for(words, "const b = [...document.querySelectorAll('main button')].find((b) => b.innerText === arguments[0]);"
                              "return b !== undefined && !b.disabled && (b.click(), true)", words)

    def set(self, label, value):
        self.put(f'[aria-label="{label}"]', value)

    def put(self, place, value):
        self.browser.wait_for(place, "return document.querySelector(arguments[0]) !== null", place)
        self.browser.run("const at = document.querySelector(arguments[0]); at.value = arguments[1];"
                         "at.dispatchEvent(new Event(at.matches('select') ? 'change' : 'input', {bubbles: true}))", place, value)

    def text(self):
        return self.browser.run(f"return {EDITOR} ? [...{EDITOR}.querySelectorAll('.cm-line')].map((l) => l.textContent).join('\\n')"
                                " : document.querySelector('.code textarea').value")

    def wait_for_text(self, words):
        self.browser.wait_for(words, f"return ({EDITOR}?.querySelector('.cm-content')?.textContent ?? document.querySelector('.code textarea')?.value)?.includes(arguments[0])", words)
