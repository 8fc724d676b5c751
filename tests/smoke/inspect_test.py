"""sluicectl inspect: the fields of frames, by their names in the rule language."""
import json

from capture_files import Case, arp, ethernet, icmp, ipv4, main, pcap, pcapng, tcp, udp, udp6, \
    udp_header

GRE_INNER = b"\0\0\x08\0" + ipv4("10.0.0.1", "10.0.0.2", 17, udp_header(1, 2))
TUNNELLED = ethernet(ipv4("192.0.2.1", "198.51.100.7", 47, GRE_INNER), 0x0800)


class Inspect(Case):
    def rows(self, frames, fields, *options, **how):
        capture = self.write("in.pcap", pcap([(0, frame) for frame in frames], **how))
        out, err = self.ctl("inspect", "--pcap", capture, "--fields", fields, *options)
        self.assertEqual(err, "")
        self.assertTrue(out == "" or out.endswith("\n"))
        return [line.split("\t") for line in out.splitlines()]

    def test_one_line_per_frame_with_its_number_first(self):
        rows = self.rows([udp(), arp(), tcp(flags=0x12), icmp(), udp6(), b"\x02"],
                         "ip.src,l4.dport,tcp.flags.syn,icmp.type,eth.type,ip.version")
        self.assertEqual(rows, [
            ["1", "192.0.2.1", "53", "", "", "0x0800", "4"],
            ["2", "", "", "", "", "0x0806", ""],
            ["3", "192.0.2.1", "80", "1", "", "0x0800", "4"],
            ["4", "192.0.2.1", "", "", "8", "0x0800", "4"],
            ["5", "2001:db8::1", "53", "", "", "0x86dd", "6"],
            ["6", "", "", "", "", "", ""]])

    def test_fields_in_the_order_given(self):
        self.assertEqual(self.rows([udp(tags=[(0x8100, 0xA005)])],
                                   "vlan.id,dir,eth.src,dir,port,payload.len,ip.frag"),
                         [["1", "5", "in", "02:00:00:00:00:02", "in", "", "0", "none"]])

    def test_the_payload_as_rules_test_it(self):
        text = ethernet(ipv4("192.0.2.1", "198.51.100.7", 17, udp_header(1, 2, b"GET /\r\n\tx\xff")), 0x0800)
        frames = [text, arp(), udp()]
        self.assertEqual(self.rows(frames, "payload,payload.len"),
                         [["1", "GET /\\x0d\\x0a\\x09x\\xff", "10"], ["2", "", ""], ["3", "", "0"]])
        capture = self.write("in.pcap", pcap([(0, frame) for frame in frames]))
        out, _ = self.ctl("inspect", "--json", "--pcap", capture, "--fields", "payload")
        self.assertEqual([json.loads(line) for line in out.splitlines()],
                         [{"frame": 1, "payload": "GET /\\x0d\\x0a\\x09x\\xff"}, {"frame": 2},
                          {"frame": 3, "payload": ""}])

    def test_fields_option_may_be_repeated(self):
        self.assertEqual(self.rows([udp()], "ip.src", "--fields", "l4.dport"),
                         [["1", "192.0.2.1", "53"]])

    def test_json_has_numbers_as_numbers_and_no_absent_fields(self):
        capture = self.write("in.pcap", pcap([(0, tcp()), (0, arp())]))
        out, _ = self.ctl("inspect", "--json", "--pcap", capture, "--fields",
                          "ip.src,l4.dport,tcp.flags.syn,eth.type,dir,eth.dst,icmp.type")
        self.assertEqual([json.loads(line) for line in out.splitlines()], [
            {"frame": 1, "ip.src": "192.0.2.1", "l4.dport": 80, "tcp.flags.syn": 1,
             "eth.type": 0x0800, "dir": "in", "eth.dst": "02:00:00:00:00:01"},
            {"frame": 2, "eth.type": 0x0806, "dir": "in", "eth.dst": "02:00:00:00:00:01"}])

    def test_looks_into_tunnels_unless_told(self):
        fields = "ip.src,outer.ip.src,l4.dport"
        inner, outer = ["1", "10.0.0.1", "192.0.2.1", "2"], ["1", "192.0.2.1", "", ""]
        self.assertEqual(self.rows([TUNNELLED], fields), [inner])
        self.assertEqual(self.rows([TUNNELLED], fields, "--tunnels", "vxlan,gre"), [inner])
        self.assertEqual(self.rows([TUNNELLED], fields, "--tunnels", "none"), [outer])
        self.assertEqual(self.rows([TUNNELLED], fields, "--tunnels", "vxlan,ipip"), [outer])
        self.ctl("inspect", "--pcap", "x", "--fields", "ip.src", "--tunnels", "teredo", exit=2)

    def test_every_capture_format(self):
        frames = [(5, udp()), (6, arp())]
        expected = "1\t192.0.2.1\n2\t\n"
        for data in (pcap(frames), pcap(frames, order=">"), pcap(frames, nanoseconds=False),
                     pcapng(frames), pcapng(frames, order=">")):
            capture = self.write("in.pcap", data)
            self.assertEqual(self.ctl("inspect", "--pcap", capture, "--fields", "ip.src")[0],
                             expected)

    def test_a_cut_last_record_is_a_warning(self):
        capture = self.write("in.pcap", pcap([(5, udp()), (6, udp())])[:-1])
        out, err = self.ctl("inspect", "--pcap", capture, "--fields", "l4.dport")
        self.assertEqual(out, "1\t53\n")
        self.assertIn("warning", err)

    def test_interfaces_that_are_not_ethernet_are_left_out_and_counted(self):
        frames = [(5, udp()), (6, b"cooked", 1), (7, tcp(), 2), (8, b"cooked", 1)]
        capture = self.write("in.pcapng", pcapng(frames, links=(1, 113, 1)))
        out, err = self.ctl("inspect", "--pcap", capture, "--fields", "l4.dport")
        self.assertEqual(out, "1\t53\n3\t80\n")
        self.assertIn("2 frames that are not Ethernet's are left out (2 on LINUX_SLL)", err)
        out, _ = self.ctl("inspect", "--json", "--pcap", capture, "--fields", "l4.dport")
        self.assertEqual([json.loads(line) for line in out.splitlines()],
                         [{"frame": 1, "l4.dport": 53}, {"frame": 3, "l4.dport": 80},
                          {"not_ethernet": 2}])
        capture = self.write("in.pcapng", pcapng(frames[1:2], links=(1, 113)))
        out, err = self.ctl("inspect", "--pcap", capture, "--fields", "ip.src", exit=1)
        self.assertEqual(out, "")
        self.assertIn("no Ethernet frame (1 on LINUX_SLL)", err)

    def test_what_cannot_be_shown(self):
        capture = self.write("in.pcap", pcap([(5, udp())]))
        for fields, code, word in (("ip.src,http.cookies", 2, "expected `[`"),
                                   ("ip.scr", 2, "`ip.src`")):
            out, err = self.ctl("inspect", "--pcap", capture, "--fields", fields, exit=code)
            self.assertEqual(out, "")
            self.assertIn(word, err)
        self.ctl("inspect", "--pcap", capture, exit=2)
        self.ctl("inspect", "--fields", "ip.src", exit=2)
        self.ctl("inspect", "--pcap", self.path("absent"), "--fields", "ip.src", exit=1)
        other = self.write("other.pcap", pcap([], link=0))
        _, err = self.ctl("inspect", "--pcap", other, "--fields", "ip.src", exit=1)
        self.assertIn("Ethernet", err)


if __name__ == "__main__":
    main()
