#pragma once
#include "control/cli/explain/described_frame.hpp"
#include "control/cli/simulate/simulate_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Options of `store`: credentials in place of those of sluice.yaml, and whom to forget.
struct StoreWords {
    std::string user;
    std::string password_file;
    std::string node;
};

// Everything the command line can say; each command reads its own part.
struct Options {
    // Options of every command.
    std::string socket = "/run/sluice/sluiced.sock";
    std::string url;         // in the place of the socket
    std::string token_file;  // for that
    bool json = false;
    bool no_color = false;

    std::vector<std::string> rules_files;  // files, folders of them, or -
    std::string config_file;               // sluice.yaml; empty: none
    std::uint16_t cluster_size = 0;        // of check: the boxes that share limits; 0: not said
    bool strict = false;
    bool services = false;  // of check
    bool force = false;
    bool forgive = false;   // of apply
    bool to_burst = false;  // of `key reset`
    bool send_lists = false;
    std::string confirm;   // a time; empty: applied for good
    bool cluster = false;  // of apply, confirm, rollback and panic
    bool detach = false;   // of apply, rule and rollback
    bool now = false;      // of these with `cluster`
    std::string canary;    // of apply with `cluster`: a node
    std::string soak;      // of that: a time
    std::string node;      // of drain
    bool undo = false;     // likewise

    std::string if_match;      // a generation, or an ETag; empty: whatever is in force
    bool exit_code = false;    // of diff
    bool dry_run = false;      // of rollback
    std::uint64_t number = 0;  // of rollback, from 1 on; 0: the newest
    bool source = false;       // of rules
    std::string rule_file;     // of `rule`: a file, -, or an id
    // The name of a tenant; of `tenant`, of check, and of links and tokens in place of a role.
    std::string tenant;
    std::string before;  // of `rule add`, these two
    std::string after;
    std::vector<std::string> rules;  // of stats: ids; none: all
    bool nonzero = false;            // of stats

    std::string pcap_file;
    std::vector<std::string> fields;
    std::vector<std::string> tunnels;  // of inspect; empty: all
    std::vector<std::string> inside;   // prefixes
    bool enforce = false;
    unsigned workers = 1;
    bool cycles = false;
    bool heatmap = false;  // of replay
    std::string out_file;
    std::string verdicts_file;
    std::uint64_t frame = 0;  // of explain; 0: none
    std::string at;           // of explain: an instant; empty: now
    PacketWords packet;
    StoreWords store;

    bool watch = false;
    bool follow = false;      // of events
    std::uint64_t count = 0;  // 0: until interrupted
    std::string rule;
    unsigned keys = 20;          // of top
    std::string by = "hits";     // the order of top
    std::string window = "10s";  // of top
    std::string key;             // of `key`, as `part|part`
    bool has_key = false;        // of `key`: it was given, if only as ''
    std::string limit;           // of `key`: its name; empty: all
    std::size_t tier = 0;        // of `key`: from 1 on; 0: whichever the key can be of
    std::string units;           // of `key grant`
    std::string rate;            // of `key set`, these four
    std::string burst;
    std::string amount;  // --count
    bool exempt = false;
    std::string lasts;           // of `key set` and `key ban`: --for
    std::string reason;          // likewise
    std::string keys_file;       // of `key ban` and `unban`: a file with a key a line; - for stdin
    std::string list_after;      // of lists: where the part before ended
    std::uint64_t most = 1'000;  // of lists: rows at most
    std::string word;            // a mode, pass or resume, a shell
    std::string webhook;         // of notify
    std::string role = "view";   // of dashboard, and of a token of it
    std::string token_word;      // of `dashboard token`: add, list or remove
    std::string token_name;      // of these
    std::string tokens_file;     // of these; empty: as sluice.yaml has it
    bool once = false;           // of live
    std::string sort = "matched_pps";  // of live: a column
    std::string filter;                // of live: a part of a rule's id
    std::string map_limit;             // of heatmap: a limit of the rule; empty: the first
    std::string map_by;                // of heatmap: offered or left; empty: both
    unsigned step = 0;                 // of heatmap: seconds of a column; 0: as the limit has it
    std::string dataplane_socket = "/run/sluice/dataplane.sock";

    std::string when;           // of trace and capture: a condition; empty: every packet
    bool dropped = false;       // of these: only what is kept back
    bool would_refuse = false;  // or only what services in monitor would refuse
    bool of_config = false;     // of schema: of sluice.yaml
    unsigned snap = 0;          // of capture: bytes of each frame

    SimulateOptions simulate;
};

}  // namespace sluice
