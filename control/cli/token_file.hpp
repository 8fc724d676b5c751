#pragma once
#include "control/named_token.hpp"
#include "lib/base/result.hpp"

#include <functional>
#include <string>

namespace sluice {

// The file of the dashboard's named tokens, and the user that sluiced runs as, who has to read it;
// empty: its owner stays.
struct TokenPlace {
    std::string path;
    std::string user;
};

// The text of the file; nothing where there is none yet.
[[nodiscard]] Result<std::string> token_text(const TokenPlace& place);
// Writes what `change` makes of the text, whole and of mode 0600, in the file's place. Two changes
// at a time wait for each other.
[[nodiscard]] Result<Done> change_tokens(
    const TokenPlace& place, const std::function<Result<std::string>(const std::string&)>& change);

// A file that sluice.yaml names, which is relative to it.
[[nodiscard]] std::string beside_config(const std::string& config, const std::string& file);

}  // namespace sluice
