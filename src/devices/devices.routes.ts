import type { Route } from '../rest/route.js'

const device = /* GraphQL */ `fragment Device on Device {
  id device_name: deviceName location_id: locationId min_points: minPoints max_points: maxPoints
  status logged_in: loggedIn last_active_at: lastActiveAt paired_at: pairedAt created_at: createdAt
}`

const toPair = `{ device { ...Device } pairing { code qr expires_at: expiresAt } }`

const byId = { params: { id: 'input.id' }, notFound: 'DEVICE_NOT_FOUND' } as const

export const deviceRoutes: Route[] = [
  {
    method: 'get',
    path: '/devices',
    operation: `query { devices { ...Device } } ${device}`,
    status: 200,
    message: 'Devices retrieved successfully',
  },
  {
    method: 'post',
    path: '/devices',
    operation: `mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) ${toPair} } ${device}`,
    data: 'unwrap',
    status: 201,
    message: 'Device registered successfully. Pair it with the code within 10 minutes.',
  },
  {
    method: 'patch',
    path: '/devices/:id',
    operation: `mutation ($input: UpdateDeviceInput!) { device: updateDevice(input: $input) { ...Device } } ${device}`,
    ...byId,
    status: 200,
    message: 'Device updated successfully',
    addition: true,
  },
  {
    method: 'delete',
    path: '/devices/:id',
    operation: `mutation ($input: DeviceByIdInput!) { device: revokeDevice(input: $input) { ...Device } } ${device}`,
    ...byId,
    status: 200,
    message: 'Device revoked successfully',
    addition: true,
  },
  {
    method: 'post',
    path: '/devices/:id/pairing-qr',
    operation: `mutation ($input: DeviceByIdInput!) { createDevicePairing(input: $input) ${toPair} } ${device}`,
    ...byId,
    data: 'unwrap',
    status: 200,
    message: 'Pairing code created successfully. Use it within 10 minutes.',
    addition: true,
  },
  {
    method: 'post',
    path: '/terminal/pair',
    operation: `mutation ($input: PairTerminalInput!) {
      pairTerminal(input: $input) { device { ...Device } token }
    } ${device}`,
    data: 'unwrap',
    status: 200,
    message: 'Terminal paired successfully. Store the token now, it is not shown again.',
    addition: true,
  },
]
