// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeValues
import TestSupport
import Testing

/// The tool on a terminal of its own, which another program plays.
struct Pseudoterminal {
  var columns = 80
  var environment: [String: String] = [:]
  /// A file that another program locks until `sign` is seen.
  var lockedFile: String?
  /// The input through a pipe, which stays open until `sign` is seen.
  var input: String?
  /// A regular expression.
  var sign: String?
  /// Whether Ctrl-C is typed when the sign is seen, before the lock and the input end.
  var interrupts = false
  /// Whether standard output leads elsewhere.
  var isErrorsOnly = false

  private static let script = #"""
    import fcntl, json, os, pty, re, select, signal, sqlite3, struct, sys, termios
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    plan = json.loads(sys.argv[1])
    lock = None
    if plan["lock"]:
      lock = sqlite3.connect(plan["lock"], isolation_level=None)
      for statement in "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "SELECT * FROM entry":
        lock.execute(statement).fetchall()
    reader, writer = os.pipe()
    ended, ending = os.pipe()
    process, terminal = pty.fork()
    if process == 0:
      # When the leader of a session ends, what its terminal has not delivered yet is thrown away:
      # so this one leads, and stays until everything was read.
      os.close(writer)
      command = os.fork()
      if command != 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.close(reader)
        os.write(ending, struct.pack("i", os.waitpid(command, 0)[1]))
        signal.pause()
      mode = termios.tcgetattr(1)
      mode[1] &= ~termios.OPOST
      termios.tcsetattr(1, termios.TCSANOW, mode)
      fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, plan["columns"], 0, 0))
      if plan["input"] is not None: os.dup2(reader, 0)
      if plan["errors"]: os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
      for name in "NO_COLOR", "TERM": os.environ.pop(name, None)
      os.environ.update(plan["environment"])
      os.execv(sys.argv[2], sys.argv[2:])
    os.close(reader)
    os.close(ending)
    if plan["input"]: os.write(writer, plan["input"].encode())
    seen, waits = b"", plan["sign"] is not None
    status = None
    while True:
      if not waits and writer is not None:
        if plan["interrupts"]: os.write(terminal, b"\x03")
        else:
          if lock: lock.close()
          os.close(writer)
        writer = None
      if status is None and ended in select.select([terminal, ended], [], [])[0]:
        status = struct.unpack("i", os.read(ended, 4))[0]
        os.set_blocking(terminal, False)
      if status is None and not select.select([terminal], [], [], 0)[0]: continue
      try: part = os.read(terminal, 65536)
      except BlockingIOError: break
      seen += part
      if waits and re.search(plan["sign"].encode(), seen): waits = False
    sys.stdout.buffer.write(seen)
    sys.stdout.flush()
    os.kill(process, signal.SIGKILL)
    os._exit(128 + status if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
    """#

  /// - Returns: all that was written to the terminal, as `stdout`.
  func run(_ folder: Folder, _ arguments: [String]) throws -> Ending {
    let text = { (text: String?) in text.map(JSON.string) ?? .null }
    let plan = JSON.object([
      "columns": .integer(Int64(columns)), "lock": text(lockedFile), "input": text(input),
      "sign": text(sign), "interrupts": .boolean(interrupts), "errors": .boolean(isErrorsOnly),
      "environment": .object(environment.map { JSON.Member($0.key, .string($0.value)) }),
    ])
    return try Command.run(
      Command.find("python3"),
      ["-c", Self.script, plan.text(), try Command.kvsync.get()] + arguments, in: folder.path)
  }

  /// The text on the screen at the end.
  static func screen(_ written: String) -> String {
    let lines = written.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { $0.components(separatedBy: erasure).last ?? "" }.joined(separator: "\n")
  }

  /// Each text that stood on the line of progress.
  static func frames(_ written: String) -> [String] {
    written.components(separatedBy: erasure).filter { $0.hasPrefix("kvsync ") }
  }

  private static let erasure = "\r\u{1B}[K"
}
