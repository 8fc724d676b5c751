"""Writes what the examples of the manual print today into its pages; the difference is to be read, as any other.

    manual_write.py SLUICECTL SLUICED FAKE_DATAPLANE
"""
import manual_pages as manual
import manual_test


def written(block, folder):
    """The block's text with what its commands print; `...` stays where it still tells the truth."""
    lines = []
    for command, expected in block.examples():
        found = folder.run(command)[1].rstrip("\n")
        lines += [f"$ {command}", *(expected if manual.prints_as(expected, found) else found).splitlines()]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def main():
    for page in manual_test.PAGES.values():
        text = page.text
        for kind in ("shell", "live"):
            blocks = [block for block in page.blocks if block.kind == kind]
            if blocks:
                with manual_test.folder_of(page, kind == "live") as folder:
                    for block in blocks:
                        text = text.replace(manual.escaped(block.text), manual.escaped(written(block, folder)), 1)
        (manual.MAN / f"{page.name}.scd").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
