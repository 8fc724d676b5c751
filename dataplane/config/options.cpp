#include "dataplane/config/options.hpp"

#include "dataplane/config/option_table.hpp"

#include <set>

namespace sluice {
namespace {

// An argument `--name value`, `--name=value` or `--name`.
struct Argument {
    std::string name;
    std::optional<std::string> value;
};

Result<Argument> split_argument(const std::string& text) {
    if (!text.starts_with("--")) {
        return bad_option("`" + text + "` is no option; see --help");
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        return Argument{text.substr(2), std::nullopt};
    }
    return Argument{text.substr(2, equals - 2), text.substr(equals + 1)};
}

Result<Done> check(const DataplaneOptions& options) {
    if (options.pairs.empty()) {
        return bad_option(
            "there is no port pair: give --pair NAME --outside DEVICE --inside DEVICE, or "
            "--config FILE");
    }
    std::set<std::string> devices;
    for (const PairOptions& pair : options.pairs) {
        for (const SideOptions* side : {&pair.outside, &pair.inside}) {
            if (side->device.empty()) {
                return bad_option("pair " + pair.name + " needs --outside and --inside");
            }
            if (!devices.insert(side->device.substr(0, side->device.find(','))).second) {
                return bad_option("device " + side->device + " is given twice");
            }
        }
    }
    return Done{};
}

Result<Done> apply_argument(const std::vector<std::string>& arguments, std::size_t& at,
                            DataplaneOptions& options) {
    Result<Argument> argument = split_argument(arguments[at]);
    if (!argument) {
        return argument.error();
    }
    const OptionRow* row = find_option(argument->name);
    if (row == nullptr) {
        return bad_option("there is no option --" + argument->name + "; see --help");
    }
    if (!row->value.empty() && !argument->value) {
        if (at + 1 == arguments.size()) {
            return bad_option("--" + argument->name + " needs a value, " + std::string{row->value});
        }
        argument->value = arguments[++at];
    }
    const Result<Done> done = row->apply(options, argument->value.value_or(""));
    return done ? done : Result<Done>{bad_option("--" + argument->name + ": " + done.error().what)};
}

// --config FILE, wherever it stands: everything else goes behind what the file says.
std::optional<CommandLine> find_config(const std::vector<std::string>& arguments) {
    CommandLine line{.kind = CommandLine::Kind::Config};
    bool found = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--") {
            line.rest.insert(line.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                             arguments.end());
            break;
        }
        if (arguments[i].starts_with("--config=")) {
            line.config = arguments[i].substr(9);
            found = true;
        } else if (arguments[i] == "--config" && i + 1 < arguments.size()) {
            line.config = arguments[++i];
            found = true;
        } else {
            line.rest.push_back(arguments[i]);
        }
    }
    return found ? std::optional{line} : std::nullopt;
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
    if (const std::optional<CommandLine> config = find_config(arguments)) {
        return *config;
    }
    CommandLine line;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        if (arguments[at] == "--help") {
            line.kind = CommandLine::Kind::Help;
            return line;
        }
        if (arguments[at] == "--version") {
            line.kind = CommandLine::Kind::Version;
            return line;
        }
        if (arguments[at] == "--forget") {
            line.kind = CommandLine::Kind::Forget;
            continue;
        }
        if (arguments[at] == "--config") {
            return bad_option("--config needs a value, FILE");
        }
        if (arguments[at] == "--") {
            line.options.eal.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                    arguments.end());
            break;
        }
        if (const Result<Done> done = apply_argument(arguments, at, line.options); !done) {
            return done.error();
        }
    }
    if (line.kind == CommandLine::Kind::Forget) {
        return line;
    }
    if (const Result<Done> done = check(line.options); !done) {
        return done.error();
    }
    return line;
}

std::string usage() {
    std::string text =
        "sluice-dataplane: forwards frames between pairs of ports within their limits\n\n"
        "  sluice-dataplane --config FILE [options]\n"
        "  sluice-dataplane --pair NAME --outside DEVICE --inside DEVICE [options] [-- EAL options]"
        "\n\n";
    for (const OptionRow& row : all_options()) {
        std::string left = "  --" + std::string{row.name} + " " + std::string{row.value};
        left.resize(std::max<std::size_t>(left.size() + 1, 28), ' ');
        text += left + std::string{row.help} + "\n";
    }
    return text +
           "  --config FILE             ports, cores, memory and sockets from sluice.yaml\n"
           "  --forget                  removes what is kept in the state directory, and ends\n"
           "  --version\n";
}

}  // namespace sluice
