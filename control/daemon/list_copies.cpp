#include "control/daemon/list_copies.hpp"

#include "control/daemon/kept_file.hpp"
#include "control/text_file.hpp"
#include "lib/base/read_file.hpp"
#include "lib/policy/lists/list_text.hpp"

#include <filesystem>
#include <mutex>
#include <vector>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// Nothing of another name is ever touched.
bool is_sum(const std::string& text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Sums of the texts that are still referenced.
class KnownSums {
public:
    std::string of(const std::shared_ptr<const std::string>& text) {
        const std::lock_guard lock{mutex_};
        std::erase_if(known_, [](const Known& known) { return known.text.expired(); });
        for (const Known& known : known_) {
            if (known.text.lock() == text) {
                return known.sum;
            }
        }
        return known_.emplace_back(Known{text, sum_of(*text)}).sum;
    }

private:
    struct Known {
        std::weak_ptr<const std::string> text;
        std::string sum;
    };
    std::mutex mutex_;
    std::vector<Known> known_;
};

// Copies that this process has written or read whole.
class KnownCopies {
public:
    void add(const std::string& path) {
        const std::lock_guard lock{mutex_};
        paths_.insert(path);
    }
    [[nodiscard]] bool has(const std::string& path) {
        const std::lock_guard lock{mutex_};
        return paths_.contains(path);
    }

private:
    std::mutex mutex_;
    std::set<std::string> paths_;
};

KnownCopies& known_copies() {
    static KnownCopies copies;
    return copies;
}

}  // namespace

std::string sum_of_list(const std::shared_ptr<const std::string>& text) {
    static KnownSums sums;
    return sums.of(text);
}

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
        const std::string sum = sum_of_list(text);
        if (has(sum, text->size())) {
            continue;
        }
        // A name without its whole text would be taken for damage, and the copy be lost.
        Result<PendingFile> pending = PendingFile::write(path_of(sum), *text);
        const Result<Done> done = pending ? pending->commit() : Result<Done>{pending.error()};
        if (!done) {
            return done;
        }
        known_copies().add(path_of(sum));
    }
    return Done{};
}

// Copies that were written or read once are not read again each time that they are needed.
bool ListCopies::has(const std::string& sum, std::size_t size) const {
    if (known_copies().has(path_of(sum))) {
        std::error_code error;
        return fs::file_size(path_of(sum), error) == size && !error;
    }
    if (find(sum) == nullptr) {
        return false;
    }
    known_copies().add(path_of(sum));
    return true;
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
    for (const std::string& name : names_in(directory_)) {
        if (is_sum(name.substr(0, 16)) && !sums.contains(name)) {
            std::error_code ignored;
            fs::remove(directory_ + "/" + name, ignored);
        }
    }
}

}  // namespace sluice
