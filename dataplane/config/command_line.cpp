#include "dataplane/config/command_line.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace sluice {
namespace {

Error bad_option(const std::string& what) {
    return {Errc::BadSyntax, what};
}

Result<Done> add_pair(CommandLine& line, const std::string& name) {
    line.box.pairs.push_back({.name = name});
    return Done{};
}

Result<Done> set_device(CommandLine& line, PortConfig PairConfig::* side,
                        const std::string& device) {
    if (line.box.pairs.empty()) {
        return bad_option("--pair NAME must come before the devices of the pair");
    }
    PortConfig& port = line.box.pairs.back().*side;
    if (!port.device.empty()) {
        return bad_option("each side of a pair has one device");
    }
    port.device = device;
    return Done{};
}

using Line = CommandLine;
using Text = const std::string&;

template <std::string BoxConfig::* kText>
Result<Done> set_text(Line& line, Text text) {
    line.box.*kText = text;
    return Done{};
}

template <CommandLine::Kind kKind>
Result<Done> set_kind(Line& line, Text) {
    line.kind = kKind;
    return Done{};
}

// Options of the file of --config come before all others, wherever it stands.
constexpr std::string_view kConfig = "config";

struct Option {
    std::string_view name;
    std::string_view value;  // placeholder in the help; empty: the option takes none
    std::string_view help;
    Result<Done> (*apply)(CommandLine&, const std::string& value);
};

constexpr auto kOptions = std::to_array<Option>({
    {kConfig, "FILE", "sluice.yaml: ports, cores, memory, sockets",
     [](Line&, Text) -> Result<Done> { return Done{}; }},
    {"pair", "NAME", "one more pair of ports, with the devices that follow", add_pair},
    {"outside", "DEVICE", "  its outside: PCI address, or vdev with arguments",
     [](Line& line, Text device) { return set_device(line, &PairConfig::outside, device); }},
    {"inside", "DEVICE", "  its inside",
     [](Line& line, Text device) { return set_device(line, &PairConfig::inside, device); }},
    {"lcores", "LIST", "DPDK core list; the first is for housekeeping, the others work",
     set_text<&BoxConfig::lcores>},
    {"state-dir", "DIR", "where the last rule set and all buckets are kept",
     set_text<&BoxConfig::state_dir>},
    {"socket", "PATH", "control socket",
     [](Line& line, Text path) -> Result<Done> {
         line.box.dataplane.path = path;
         return Done{};
     }},
    {"user", "NAME", "the user that sluiced runs as: the control socket is its own",
     set_text<&BoxConfig::user>},
    {"database-key", "FILE", "the key that vouches for patterns, shared with sluiced",
     set_text<&BoxConfig::database_key>},
    {"forget", "", "removes what is kept in the state directory, its keys too, and ends",
     set_kind<CommandLine::Kind::Forget>},
    {"version", "", "prints the version", set_kind<CommandLine::Kind::Version>},
    {"help", "", "prints this", set_kind<CommandLine::Kind::Help>},
});

struct Argument {
    const Option* option;
    std::string value;
};

// `--name value`, `--name=value` or `--name`; `at` goes on to the last word of it.
Result<Argument> read_argument(std::span<const std::string> words, std::size_t& at) {
    const std::string& word = words[at];
    if (!word.starts_with("--")) {
        return bad_option("`" + word + "` is no option; see --help");
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(2, equals - 2);
    const auto option = std::find_if(kOptions.begin(), kOptions.end(),
                                     [&](const Option& one) { return one.name == name; });
    if (option == kOptions.end()) {
        return bad_option("there is no option --" + name +
                          "; see --help, and sluice.yaml for what is no option");
    }
    if (equals != word.size() || option->value.empty()) {
        return Argument{&*option, word.substr(std::min(equals + 1, word.size()))};
    }
    if (++at == words.size()) {
        return bad_option("--" + name + " needs a value, " + std::string{option->value});
    }
    return Argument{&*option, words[at]};
}

Result<std::vector<Argument>> read_arguments(std::span<const std::string> words) {
    std::vector<Argument> arguments;
    for (std::size_t at = 0; at < words.size(); ++at) {
        Result<Argument> argument = read_argument(words, at);
        if (!argument) {
            return argument.error();
        }
        arguments.push_back(*std::move(argument));
    }
    return arguments;
}

// Checks that there is all that a box needs in order to run.
Result<Done> check(const CommandLine& line) {
    if (line.kind == CommandLine::Kind::Run && line.box.pairs.empty()) {
        return bad_option(
            "there is no port pair: give --pair NAME --outside DEVICE --inside DEVICE, or --config "
            "FILE with `ports`");
    }
    if (const std::optional<std::string> fault = find_fault(line.box)) {
        return bad_option(*fault);
    }
    return Done{};
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& words, ReadBox read_box) {
    CommandLine line;
    const auto end = std::find(words.begin(), words.end(), "--");
    line.eal.assign(end == words.end() ? end : end + 1, words.end());
    Result<std::vector<Argument>> arguments = read_arguments({words.begin(), end});
    if (!arguments) {
        return arguments.error();
    }
    for (const Argument& argument : *arguments) {
        if (argument.option->name == kConfig) {
            Result<BoxConfig> box = read_box(argument.value);
            if (!box) {
                return Error{Errc::Refused, box.error().what};
            }
            line.box = *std::move(box);
        }
    }
    for (const Argument& argument : *arguments) {
        if (const Result<Done> done = argument.option->apply(line, argument.value); !done) {
            return done.error();
        }
    }
    if (const Result<Done> done = check(line); !done) {
        return done.error();
    }
    return line;
}

std::string usage() {
    std::string text =
        "sluice-dataplane: forwards frames between pairs of ports within their limits\n\n"
        "  sluice-dataplane --config FILE [options] [-- EAL options]\n"
        "  sluice-dataplane --pair NAME --outside DEVICE --inside DEVICE [options] [-- EAL options]"
        "\n\n";
    for (const Option& option : kOptions) {
        std::string left = "  --" + std::string{option.name} + " " + std::string{option.value};
        left.resize(std::max<std::size_t>(left.size() + 1, 28), ' ');
        text += left + std::string{option.help} + "\n";
    }
    return text;
}

}  // namespace sluice
