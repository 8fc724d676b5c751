#pragma once

namespace sluice {

// Makes memory of tables (LineMemory) come page by page as it is used from now on, and none of it
// from huge pages that are reserved: for programs that judge a capture, where no packet waits for a
// page and most of the tables of most workers stay empty. Called once, before any is made.
void use_pages_as_they_come() noexcept;

}  // namespace sluice
