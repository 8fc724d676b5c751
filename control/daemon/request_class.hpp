#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// Requests by the places that are kept for them: what an operator needs in an emergency and what
// watches the box do not queue behind everything else.
enum class RequestClass : std::uint8_t {
    Ordinary,
    Watching,
    Panic,
    Live,      // waits for the next second: a place of its own, or an answer at once
    Stranger,  // by TCP without the token: what is left to do is to refuse it
    // Requests of a tenant: places of their own, so that customers take none of the operators'.
    Tenant,
    TenantLive,
    // Requests of the role view at the dashboard: who may change something finds a place beside
    // them.
    Viewer,
    ViewerLive,
};
inline constexpr std::size_t kRequestClassCount = 9;

// The class of a request that somebody of a tenant makes.
[[nodiscard]] constexpr RequestClass tenant_class(RequestClass kind) noexcept {
    return kind == RequestClass::Live ? RequestClass::TenantLive : RequestClass::Tenant;
}
// The class of a request that somebody of the role view makes at the dashboard.
[[nodiscard]] constexpr RequestClass viewer_class(RequestClass kind) noexcept {
    return kind == RequestClass::Live       ? RequestClass::ViewerLive
           : kind == RequestClass::Ordinary ? RequestClass::Viewer
                                            : kind;
}
// True of a request that waits for the next second of the box.
[[nodiscard]] constexpr bool is_live(RequestClass kind) noexcept {
    return kind == RequestClass::Live || kind == RequestClass::TenantLive ||
           kind == RequestClass::ViewerLive;
}

inline constexpr std::size_t kMostPeeked = 8192;
// Bytes of a body that are taken without authority.
inline constexpr std::size_t kMostOfStrangers = 4U << 10;

// The class of the request that begins with `bytes`. nullopt: more must come, since its head is
// not whole yet; heads of kMostPeeked bytes and more are Ordinary. Watching and Panic are there as
// a whole, body included: a slow client never holds one of their places.
[[nodiscard]] std::optional<RequestClass> class_of(std::string_view bytes) noexcept;

// True once nothing more of a request need be waited for: it has come whole, or its head has, and
// its body is refused at once, for it comes in chunks or has more than `most` bytes. What never
// gets there has no place.
[[nodiscard]] bool is_answerable(std::string_view bytes, std::size_t most) noexcept;

// The value of the first header of a name in the head that `bytes` begin with; the name ends with
// its colon and has small letters. Empty: none.
[[nodiscard]] std::string_view header_in(std::string_view bytes, std::string_view name) noexcept;

// The class of a request that has come, by its method and path.
[[nodiscard]] RequestClass class_of(std::string_view method, std::string_view path) noexcept;

}  // namespace sluice
