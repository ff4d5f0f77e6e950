"""Reads a device's registers and identification with pymodbus, and prints them as JSON."""
import json
import sys

from pymodbus.client import ModbusSerialClient

port, unit = sys.argv[1], int(sys.argv[2])
client = ModbusSerialClient(port, baudrate=19200, timeout=3)
if not client.connect():
    sys.exit(f"cannot open {port}")
registers = client.read_input_registers(0, count=48, device_id=unit)
names = client.read_input_registers(100, count=24, device_id=unit)
identity = client.read_device_information(read_code=1, object_id=0, device_id=unit)
for answer in (registers, names, identity):
    if answer.isError():
        sys.exit(f"the device answered {answer}")
text = b"".join(word.to_bytes(2, "big") for word in names.registers)
print(json.dumps({
    "registers": registers.registers,
    "classes": [text[i:i + 16].rstrip(b"\0").decode() for i in range(0, len(text), 16)],
    "identity": [identity.information[i].decode() for i in sorted(identity.information)],
}))
