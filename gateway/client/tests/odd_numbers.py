"""Numbers that JSON writers spell differently: whole ones in floating point, and extremes."""

WHOLE = [2.0**53, 2.0**53 + 2, -(2.0**60), 123456789012345680000.0, 1e20, 999999999999999900000.0]
OTHER = [0.0, -0.0, 1.5, 5e-324, 1e21, 1.7976931348623157e308, 2.0**53 - 1]
