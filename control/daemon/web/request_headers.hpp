#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice {

// The headers of a request, as they came.
struct RequestHeader {
    std::string_view name;
    std::string_view value;
};
class RequestHeaders {
public:
    void add(std::string_view name, std::string_view value) { all_.push_back({name, value}); }
    // A value went on in another line (obs-fold, RFC 9112 5.2), so that two readers may take it for
    // two values.
    void mark_folded() noexcept { is_folded_ = true; }
    [[nodiscard]] bool is_folded() const noexcept { return is_folded_; }

    // By name, in whatever case. The first value; nothing where there is none.
    [[nodiscard]] std::string_view value(std::string_view name) const noexcept;
    [[nodiscard]] std::size_t times(std::string_view name) const noexcept;
    [[nodiscard]] bool has(std::string_view name) const noexcept { return times(name) != 0; }

private:
    std::vector<RequestHeader> all_;
    bool is_folded_ = false;
};

// The headers of a request that `bytes` begin with; a line that is none of them is passed
// over.
[[nodiscard]] RequestHeaders headers_in(std::string_view bytes);

}  // namespace sluice
