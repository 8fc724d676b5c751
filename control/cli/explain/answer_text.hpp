#pragma once
#include "control/cli/explain/answer_account.hpp"
#include "control/json.hpp"

#include <string>

namespace sluice {

// "answer\n  replied (requests of HTTP answered ...)\n    HTTP/1.1 429 ...\n"
[[nodiscard]] std::string answer_text(const AnswerAccount& answer);

// Each header stands by its name in small letters.
[[nodiscard]] Json answer_json(const AnswerAccount& answer);

}  // namespace sluice
