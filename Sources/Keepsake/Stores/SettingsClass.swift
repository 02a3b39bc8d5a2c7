// SPDX-License-Identifier: Apache-2.0

/// Keeps a settings class off the main actor in a module whose types are on it by default.
///
/// A type whose declaration conforms to a protocol that inherits `SendableMetatype` does not get
/// its module's default isolation (SE-0466). Use it through `DeviceSettings` or `SyncedSettings`;
/// it has no effect in other modules. A subclass of such a class is on the main actor again: make
/// settings classes `final`.
public protocol SettingsClass: SettingsStore, SendableMetatype {}

/// The superclass of settings that stay on this device.
///
/// ```swift
/// final class AppSettings: DeviceSettings, @unchecked Sendable {
///   @Setting var username = "guest"
/// }
/// ```
///
/// Swift cannot check that a subclass is `Sendable`, so each settings class has to declare it.
/// Settings are safe on every thread; protect any other variable of the class yourself.
public typealias DeviceSettings = UserDefaultsStore & SettingsClass

/// The superclass of settings that sync between devices; see `DeviceSettings`.
public typealias SyncedSettings = CloudKeyValueStore & SettingsClass
