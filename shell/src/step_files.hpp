/// \file
/// The files of the steps of one shell: a text and two FIFOs each. Making them costs more than a
/// short command does, so those of the next step are made while the shell works on this one.
#pragma once

#include "session_files.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::shell {

/// What one step has in the session's directory, and what makes its report believed.
struct StepFiles {
  std::string nonce;
  std::string name;   ///< of the text; with ".o" and ".e" behind it those of the FIFOs
  os::UniqueFd text;  ///< made, and empty; not open over a relay
  OutputFifo out;     ///< without `read` once somebody else holds the FIFO
  OutputFifo err;
};

/// Threads: for the holder of the step slot.
class StepStore {
 public:
  explicit StepStore(const SessionFiles& dir) : dir_(dir) {}

  /// Those that are ready, else new ones.
  ///
  /// Errors: of making a file, and of none but that.
  [[nodiscard]] Result<StepFiles> take();
  /// Puts the text into its file and closes it.
  [[nodiscard]] Result<> write_text(StepFiles& files, std::string_view first,
                                    std::string_view second = {}) const;
  /// Takes those of a step that is over. Their names are gone with the next prepare().
  void give_back(StepFiles used);
  /// Sees to it that take() has some ready. Over a relay it only removes the used ones.
  void prepare();
  /// Gives up its descriptors; the names go with the directory.
  void close();

 private:
  void tidy();
  [[nodiscard]] Result<StepFiles> make();
  [[nodiscard]] Result<OutputFifo> fifo(OutputFifo StepFiles::* which, const char* ending,
                                        const std::string& name);
  void remove(const StepFiles& files) const;

  const SessionFiles& dir_;
  std::optional<StepFiles> ready_;
  std::optional<StepFiles> used_;
};

}  // namespace bawn::shell
