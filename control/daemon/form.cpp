#include "control/daemon/form.hpp"

#include <microhttpd.h>

#include <strings.h>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kReaderMemory = 64U << 10;  // the longest head of a part
constexpr std::string_view kFormType = "multipart/form-data";

bool is_form(MHD_Connection* connection) {
    const char* type =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    return type != nullptr && ::strncasecmp(type, kFormType.data(), kFormType.size()) == 0;
}

std::string unescaped(const char* text) {
    std::string name = text == nullptr ? "" : text;
    name.resize(MHD_http_unescape(name.data()));
    return name;
}

}  // namespace

// Functions that the library calls. Nothing may be thrown through it.
struct FormCallbacks {
    // Called for each piece of a part's content; its first has offset 0. Where no more of it has
    // come than might begin a boundary, the first is empty and the second has offset 0 as well. A
    // part that stays empty has that one piece alone.
    // NOLINTNEXTLINE(readability-function-size): the library's signature
    static MHD_Result on_piece(void* into, MHD_ValueKind, const char* name, const char* file_name,
                               const char*, const char*, const char* data, std::uint64_t offset,
                               std::size_t size) noexcept {
        auto& form = *static_cast<FormReader*>(into);
        try {
            FormPart part{name, unescaped(file_name), nullptr};
            if (offset == 0 && !form.is_begun(part, size)) {
                if (form.parts_.size() == FormReader::kMaxParts) {
                    form.too_many_ = true;
                    return MHD_NO;
                }
                part.content = std::make_shared<std::string>();
                form.parts_.push_back(std::move(part));
            }
            form.parts_.back().content->append(data, size);
            return MHD_YES;
        } catch (const std::exception&) {
            return MHD_NO;
        }
    }
};

std::unique_ptr<FormReader> FormReader::make(MHD_Connection* connection) {
    if (!is_form(connection)) {
        return nullptr;
    }
    std::unique_ptr<FormReader> form{new FormReader};
    form->reader_ =
        MHD_create_post_processor(connection, kReaderMemory, FormCallbacks::on_piece, form.get());
    return form;
}

// By an empty first piece.
bool FormReader::is_begun(const FormPart& part, std::size_t size) const {
    return size != 0 && !parts_.empty() && parts_.back().content->empty() &&
           parts_.back().name == part.name && parts_.back().file_name == part.file_name;
}

FormReader::~FormReader() {
    (void)finish();
}

bool FormReader::add(std::string_view piece) {
    return reader_ != nullptr && MHD_post_process(reader_, piece.data(), piece.size()) == MHD_YES &&
           !too_many_;
}

bool FormReader::finish() {
    MHD_PostProcessor* const reader = std::exchange(reader_, nullptr);
    return reader != nullptr && MHD_destroy_post_processor(reader) == MHD_YES && !too_many_;
}

}  // namespace sluice
