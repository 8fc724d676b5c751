#include "control/daemon/list_copies.hpp"

#include "control/daemon/kept_file.hpp"
#include "control/text_file.hpp"
#include "lib/policy/lists/list_text.hpp"

#include <filesystem>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// Nothing of another name is ever touched.
bool is_sum(const std::string& text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string ListCopies::path_of(const std::string& sum) const {
    return directory_ + "/" + sum;
}

Result<Done> ListCopies::add(const ListTexts& lists) const {
    if (lists.empty()) {
        return Done{};
    }
    std::error_code error;
    fs::create_directories(directory_, error);
    for (const auto& [path, text] : lists) {
        const std::string sum = sum_of(*text);
        if (find(sum) != nullptr) {
            continue;
        }
        // A name without its whole text would be taken for damage, and the copy be lost.
        Result<PendingFile> pending = PendingFile::write(path_of(sum), *text);
        const Result<Done> done = pending ? pending->commit() : Result<Done>{pending.error()};
        if (!done) {
            return done;
        }
    }
    return Done{};
}

std::shared_ptr<const std::string> ListCopies::find(const std::string& sum) const {
    Result<std::string> text = Error{Errc::BadSyntax, ""};
    if (is_sum(sum)) {
        text = read_text_file(path_of(sum), kMaxListSize);
    }
    return text && sum_of(*text) == sum ? std::make_shared<const std::string>(*std::move(text))
                                        : nullptr;
}

bool ListCopies::is_empty() const {
    std::error_code error;
    return fs::directory_iterator{directory_, error} == fs::directory_iterator{};
}

void ListCopies::keep_only(const std::set<std::string>& sums) const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{directory_, error}) {
        const std::string name = entry.path().filename().string();
        if (is_sum(name.substr(0, 16)) && !sums.contains(name)) {
            std::error_code ignored;
            fs::remove(entry.path(), ignored);
        }
    }
}

}  // namespace sluice
