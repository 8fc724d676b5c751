#pragma once
#include "control/daemon/http.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

struct MHD_Connection;
struct MHD_PostProcessor;

namespace sluice {

// The body of a request that is a form (multipart/form-data, RFC 7578), read by libmicrohttpd piece
// by piece as it comes. The number of its parts is bounded. An empty part and one of the same name
// and file name right after it are one.
class FormReader {
public:
    static constexpr std::size_t kMaxParts = 4096;

    // nullptr: the request's content is none.
    [[nodiscard]] static std::unique_ptr<FormReader> make(MHD_Connection* connection);
    ~FormReader();
    FormReader(const FormReader&) = delete;
    FormReader& operator=(const FormReader&) = delete;

    // False: it is damaged, or has more parts than are taken.
    [[nodiscard]] bool add(std::string_view piece);
    // Ends the reading. False: it is not whole.
    [[nodiscard]] bool finish();
    [[nodiscard]] std::vector<FormPart> take_parts() { return std::move(parts_); }

private:
    friend struct FormCallbacks;
    FormReader() = default;
    [[nodiscard]] bool is_begun(const FormPart& part, std::size_t size) const;

    MHD_PostProcessor* reader_ = nullptr;
    std::vector<FormPart> parts_;
    bool too_many_ = false;
};

}  // namespace sluice
