#include "control/cli/explain/shown_account.hpp"

#include "control/cli/terminal.hpp"

#include <algorithm>

namespace sluice {

std::string shown_account(std::uint64_t packet, std::string_view account) {
    std::string text = bold("packet " + std::to_string(packet)) + "\n";
    while (!account.empty()) {
        const std::string_view line = account.substr(0, account.find('\n'));
        text += line.starts_with(' ') ? std::string{line} : bold(line);
        text += '\n';
        account.remove_prefix(std::min(line.size() + 1, account.size()));
    }
    return text;
}

}  // namespace sluice
