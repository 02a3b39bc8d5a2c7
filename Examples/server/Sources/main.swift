// SPDX-License-Identifier: Apache-2.0
//
// A server whose settings change while it runs, by whoever writes to its device file:
//
//     swift run --package-path Examples/server server server.keepsake
//     kvsync set server.keepsake greeting 'Good evening' --store defaults
//
// SIGTERM ends it: first the requests under way, then what was heard of changes. What it writes is
// counted: each count is a line of standard output.

import Hummingbird
import Keepsake
import KeepsakeServer
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle

let logger = Logger(label: "server")
let device = try Device(path: CommandLine.arguments.dropFirst().first ?? "server.keepsake")
let settings = try ServerSettings(on: device)
// Another server takes a backend that is read by what monitors it.
MetricsSystem.bootstrap(StreamMetricsFactory.standardOutput())
let metrics = DeviceMetrics(device)
let server = Application(
  router: routes(settings),
  configuration: .init(address: .hostname("127.0.0.1", port: settings.port)), logger: logger)
let changes = ObservationService(settings) { changes in
  for change in changes { logger.info("\(change.key) has changed") }
}
// They end in the opposite order.
let services = ServiceGroup(
  services: [changes, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await services.run()
