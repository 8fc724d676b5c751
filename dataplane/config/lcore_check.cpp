#include "dataplane/config/lcore_check.hpp"

#include "lib/base/whole_number.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sched.h>

namespace sluice {
namespace {

constexpr unsigned kMostLcore = 1023;  // that a list may name

Error no_list(std::string_view list) {
    return {Errc::OutOfRange, "lcores: `" + std::string{list} +
                                  "` is no list of lcores, such as 0,1-3 or 0@0,(1-3)@(4-6)"};
}

std::optional<unsigned> read_number(std::string_view text) {
    const std::optional<unsigned> number = whole_number<unsigned>(text);
    return number && *number <= kMostLcore ? number : std::nullopt;
}

// 3 or 4-6.
bool add_range(std::string_view text, std::vector<unsigned>& numbers) {
    const std::size_t dash = text.find('-');
    const std::optional<unsigned> first = read_number(text.substr(0, dash));
    const std::optional<unsigned> last =
        dash == std::string_view::npos ? first : read_number(text.substr(dash + 1));
    if (!first || !last || *last < *first) {
        return false;
    }
    for (unsigned number = *first; number <= *last; ++number) {
        numbers.push_back(number);
    }
    return true;
}

// One range, or several in parentheses; nullopt: neither.
std::optional<std::vector<unsigned>> read_set(std::string_view text) {
    if (text.starts_with('(') != text.ends_with(')')) {
        return std::nullopt;
    }
    if (text.starts_with('(')) {
        text = text.substr(1, text.size() - 2);
    }
    std::vector<unsigned> numbers;
    while (true) {
        const std::size_t comma = text.find(',');
        if (!add_range(text.substr(0, comma), numbers)) {
            return std::nullopt;
        }
        if (comma == std::string_view::npos) {
            return numbers;
        }
        text.remove_prefix(comma + 1);
    }
}

// Up to the next comma that is in no parentheses.
std::string_view first_element(std::string_view list) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
        depth += list[at] == '(' ? 1U : 0U;
        depth -= list[at] == ')' && depth != 0 ? 1U : 0U;
        if (list[at] == ',' && depth == 0) {
            return list.substr(0, at);
        }
    }
    return list;
}

}  // namespace

Result<Done> check_lcores(std::string_view list, const std::function<bool(unsigned)>& there) {
    for (std::string_view left = list;;) {
        const std::string_view element = first_element(left);
        const std::size_t at = element.find('@');
        const auto lcores = read_set(element.substr(0, at));
        const auto processors =
            at == std::string_view::npos ? lcores : read_set(element.substr(at + 1));
        if (!lcores || !processors) {
            return no_list(list);
        }
        for (const unsigned processor : *processors) {
            if (!there(processor)) {
                return Error{Errc::OutOfRange, "lcores: `" + std::string{element} +
                                                   "` names processor " +
                                                   std::to_string(processor) +
                                                   ", which is not there for this process"};
            }
        }
        if (element.size() == left.size()) {
            return Done{};
        }
        left.remove_prefix(element.size() + 1);
    }
}

bool may_run_on(unsigned processor) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    return processor < CPU_SETSIZE && ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
           CPU_ISSET(processor, &allowed);
}

}  // namespace sluice
