"""What shells offer of ids that a daemon lists, which may be another box's: none of their text is run.

    completion_test.py SLUICECTL
"""
import os
import pty
import shutil
import subprocess
import unittest

from capture_files import Case, main, pcap, udp
from stand_ins import Sluiced

GOOD = ["a", "web-2", "web-2.half"]
# Each would leave a file `ran` behind where a shell expands it, or is none that a rule can have.
BAD = ["$(touch ran)", "`touch ran`", "x$(touch ran)", "${x:=$(touch ran)}", "a;touch ran", "<(touch ran)", "a|touch ran",
       "-exec", "--socket", "*", "a b", "A", "ä", "a\tb", "a\x1b[2Jb", "a\nb`touch ran`", "", "x" * 129, ".a", "a."]


# Words behind which ids are offered: of rules, and of services where these are taken as well.
RULES_ALONE = ("key show", "rule delete", "rule add x --before", "keys --rule", "bans --rule", "top --rule")
SERVICES_TOO = ("mode", "rules", "stats --rule")


class Listed(Case):
    """sluicectl, of a daemon that lists hostile ids."""

    def test_ids_are_those_that_rules_can_have(self):
        sluiced = Sluiced(self.path("sock"), {("GET", "/v1/rules"): (200, {
            "rules": [{"id": one} for one in BAD + GOOD], "services": [{"id": one} for one in ["$(touch ran)", "shop"]]})})
        self.addCleanup(sluiced.close)
        self.assertEqual(self.ctl("completion", "ids", "--socket", self.path("sock")), ("\n".join(GOOD + ["shop"]) + "\n", ""))
        self.assertEqual(self.ctl("completion", "rules", "--socket", self.path("sock")), ("\n".join(GOOD) + "\n", ""))


class Offered(Case):
    """Each shell, of a program that does not sort them out."""

    def setUp(self):
        super().setUp()
        self.write("ids", "".join(f"{one}\n" for one in BAD + GOOD))
        self.program = self.write("sluicectl", f"""#!/bin/sh
case "$*" in
    "completion ids") cat {self.path("ids")}; echo shop ;;
    "completion rules") cat {self.path("ids")} ;;
    "completion sets") printf '%s\\n' 1 2 3 '$(touch ran)' ;;
esac
""")
        os.chmod(self.program, 0o755)

    def script(self, shell):
        return self.ctl("completion", shell)[0]

    def offered(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder, check=True,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "HOME": self.folder})
        self.assertEqual(done.stderr, "")
        self.assertFalse(os.path.exists(self.path("ran")), done.stdout)
        return done.stdout.splitlines()

    def expect_good(self, shown):
        # Size is the program's to judge; a line break ends an id.
        self.assertEqual(sorted(set(shown) - {"x" * 129}), sorted([*GOOD, "a."]))

    def bash(self, words, typed):
        return self.offered("bash", "-c", f'{self.script("bash")}\nCOMP_WORDS=({words}); COMP_CWORD={typed}; _sluicectl\n'
                            'printf "%s\\n" "${COMPREPLY[@]}"')

    def test_bash(self):
        for words in RULES_ALONE:
            self.expect_good(self.bash(f"{self.program} {words} ''", len(words.split()) + 1))
        for words in SERVICES_TOO:
            self.assertIn("shop", self.bash(f"{self.program} {words} ''", len(words.split()) + 1), words)
        self.assertEqual(self.bash(f"{self.program} key ban we", 3), ["web-2", "web-2.half"])

    def test_bash_offers_files_as_they_are_called(self):
        for name in ("$(touch ran)", "a b.yaml", "*"):
            self.write(name, "")
        self.assertEqual(sorted(self.bash("sluicectl check ''", 2)),
                         sorted(["$(touch ran)", "a b.yaml", "*", "ids", "sluicectl"]))

    def in_terminal(self, typed):
        """The words that a program is called with, where its line is typed at a bash that completes it."""
        self.write("script.bash", self.script("bash"))
        self.write("sluicectl", f"""#!/bin/sh
case "$*" in
    *"completion ids") [ "$#" = 2 ] || printf '%s\n' "$@" >{self.path("asked")}; cat {self.path("ids")} ;;
    *) printf '%s\n' "$@" >{self.path("called")} ;;
esac
""")
        program, terminal = pty.fork()
        if program == 0:
            os.chdir(self.folder)
            os.environ.update(PATH=f"{self.folder}:{os.environ['PATH']}", HOME=self.folder, TERM="dumb", INPUTRC="/dev/null")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
        os.write(terminal, f"source ./script.bash\n{typed}\nexit\n".encode())
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
        except OSError:  # its end
            pass
        os.close(terminal)
        self.assertEqual(os.waitpid(program, 0)[1], 0, shown)
        with open(self.path("called"), encoding="utf-8") as called:
            return called.read().splitlines()

    def test_bash_asks_the_box_that_a_url_names(self):
        """bash breaks words at colons and equals signs."""
        url = "https://[2001:db8::1]:8080/a=b"
        self.assertEqual(self.in_terminal(f"sluicectl --url {url} --token-file 'a b' mode web-2.h\t"),
                         ["--url", url, "--token-file", "a b", "mode", "web-2.half"])
        with open(self.path("asked"), encoding="utf-8") as asked:
            self.assertEqual(asked.read().splitlines(), ["--url", url, "--token-file", "a b", "completion", "ids"])
        self.assertEqual(self.in_terminal(f"sluicectl mode --url {url} web-2.h\t"), ["mode", "--url", url, "web-2.half"])

    def test_bash_goes_on_behind_a_colon(self):
        for name in ("a:b=c.yaml", "d:"):
            self.write(name, "")
        for typed in ("a:\t", "a:b\t", "a:b=\t", "a:b=c\t"):
            self.assertEqual(self.in_terminal("sluicectl check " + typed), ["check", "a:b=c.yaml"], typed)
        self.assertEqual(self.in_terminal("sluicectl key ban a 2001:db8::1 --rea\t"), ["key", "ban", "a", "2001:db8::1", "--reason"])

    # What an option or a place takes, behind options with values of their own.
    WORDS = (("top --by", "hits bits denied remaining"), ("top --window", "1s 10s 60s"), ("rollback", "1 2 3"),
             ("rollback --if-match abc", "1 2 3"), ("explain --proto", "tcp udp icmp"),
             ("simulate --algorithm", "token_bucket leaky_bucket fixed_window sliding_window sliding_counters sliding_log srtcm trtcm"),
             ("explain --flags", "syn ack fin rst psh urg"), ("inspect --tunnels", "none gre vxlan ipip geneve gtpu"),
             ("key --limit 1", "show list reset grant set unset ban unban"))

    def test_bash_offers_what_options_take(self):
        for words, wanted in self.WORDS:
            self.assertEqual(self.bash(f"{self.program} {words} ''", len(words.split()) + 1), wanted.split(), words)
        self.write("a.pcap", "")
        self.assertEqual(self.bash(f"{self.program} replay --pcap a.", 3), ["a.pcap"])
        self.assertEqual(self.bash(f"{self.program} --socket sluice", 2), ["sluicectl"])

    def test_fields_are_those_that_inspect_shows(self):
        offered = self.bash(f"{self.program} inspect --fields ''", 3)
        self.assertIn("http.request.uri.path", offered)
        capture = self.write("in.pcap", pcap([(0, udp())]))
        self.ctl("inspect", "--pcap", capture, "--fields", ",".join(offered))

    def test_bash_goes_on_behind_a_comma(self):
        self.assertEqual(self.bash(f"{self.program} inspect --tunnels gre,vx", 3), ["gre,vxlan"])
        self.assertEqual(self.bash(f"{self.program} explain --flags syn,ack,r", 3), ["syn,ack,rst"])
        self.assertIn("ip.src,ip.dst", self.bash(f"{self.program} inspect --fields ip.src,", 3))
        self.assertEqual(self.bash(f"{self.program} top --by hits,", 3), [""])

    def test_what_options_take_is_taken(self):
        """Offered words are those that the program knows."""
        for words, wanted in self.WORDS:
            if words.startswith("top"):
                for one in wanted.split():
                    self.ctl(*words.split(), one, "--socket", self.path("absent"), exit=3)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_goes_on_behind_a_comma(self):
        self.assertIn("inspect:--tunnels) compset -P '*,'; compadd -- none", self.script("zsh"))
        self.assertIn("top:--by) compadd -- hits", self.script("zsh"))

    def zsh(self, words):
        given = "compdef() { :; }; compset() { :; }; compadd() { shift; print -rl -- $@; }; _files() { print files; }\n"
        return self.offered("zsh", "-fc", f'{given}{self.script("zsh")}\nwords=({self.program} {words} "");'
                            "CURRENT=$#words; _sluicectl")

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        for words in RULES_ALONE:
            self.expect_good(self.zsh(words))
        for words in SERVICES_TOO:
            self.assertIn("shop", self.zsh(words), words)
        for words, wanted in self.WORDS:
            self.assertEqual(self.zsh(words), wanted.split(), words)
        self.assertEqual(self.zsh("replay --pcap"), ["files"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        self.write("script.fish", self.script("fish"))
        for words in RULES_ALONE + SERVICES_TOO:
            shown = self.offered("fish", "--no-config", "-c", f'source script.fish; complete -C "sluicectl {words} "')
            ids = [line.split("\t")[0] for line in shown]
            self.assertEqual("shop" in ids, words in SERVICES_TOO, words)
            self.expect_good(one for one in ids if one != "shop")
        shown = self.offered("fish", "--no-config", "-c", 'source script.fish; complete -C "sluicectl inspect --tunnels gre,ip"')
        self.assertIn("gre,ipip", [line.split("\t")[0] for line in shown])
        for words in ("check --r", "apply --be", "trace --af"):
            self.assertEqual(self.offered("fish", "--no-config", "-c", f'source script.fish; complete -C "sluicectl {words}"'), [])
        for words, wanted in self.WORDS:
            shown = self.offered("fish", "--no-config", "-c", f'source script.fish; complete -C "sluicectl {words} "')
            self.assertEqual(sorted(line.split("\t")[0] for line in shown), sorted(wanted.split()), words)


if __name__ == "__main__":
    main()
