//! Matrices and vectors in `.npy` files, in the precision they were saved in.
//!
//! `npyz` reads and writes the header. The numbers are decoded here, one block at a time, so a
//! matrix is in memory only once. If the header promises more than the file holds, the file is
//! refused before anything is allocated.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use crate::files::input;
use crate::files::matrix::MatrixError;
use crate::files::npy_header::{header, read_header};
use crate::files::output;

/// Bytes decoded at a time; a multiple of every item size.
const BLOCK: usize = 1 << 16;

/// A matrix in the precision of its file.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Single precision.
    F32(Array2<f32>),
    /// Double precision.
    F64(Array2<f64>),
}

impl Matrix {
    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        match self {
            Self::F32(x) => x.dim(),
            Self::F64(x) => x.dim(),
        }
    }

    /// The matrix in double precision.
    pub fn into_f64(self) -> Array2<f64> {
        match self {
            Self::F32(x) => x.mapv(f64::from),
            Self::F64(x) => x,
        }
    }
}

/// Reads a matrix of float32 or float64; a 1-D array is one column.
pub fn read_matrix(path: &Path) -> Result<Matrix, MatrixError> {
    let array = Array::open(path)?;
    let (rows, columns) = match *array.shape.as_slice() {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            return Err(array.refuse(format!(
                "an array of shape {:?}; give a matrix (samples × features) or a vector",
                array.shape
            )));
        }
    };
    let shape = (rows, columns).set_f(array.fortran);
    let shaped = "the data has the length of its shape";
    if array.single {
        let values = array.decode(f32::from_le_bytes, f32::from_be_bytes)?;
        Array2::from_shape_vec(shape, values).map(Matrix::F32)
    } else {
        let values = array.decode(f64::from_le_bytes, f64::from_be_bytes)?;
        Array2::from_shape_vec(shape, values).map(Matrix::F64)
    }
    .map_err(|error| MatrixError::Content {
        path: path.into(),
        problem: format!("{shaped}, but cannot be arranged: {error}"),
    })
}

/// Reads a vector of float32 or float64 in double precision; a matrix of one row or one
/// column counts as a vector.
pub fn read_vector(path: &Path) -> Result<Array1<f64>, MatrixError> {
    let array = Array::open(path)?;
    if array.shape.iter().filter(|&&n| n != 1).count() > 1 || array.shape.is_empty() {
        return Err(array.refuse(format!("an array of shape {:?}; give a vector", array.shape)));
    }
    if array.single {
        let values = array.decode(f32::from_le_bytes, f32::from_be_bytes)?;
        Ok(values.into_iter().map(f64::from).collect())
    } else {
        Ok(array.decode(f64::from_le_bytes, f64::from_be_bytes)?.into())
    }
}

/// Writes a matrix as float64, whole or not at all.
pub fn write_matrix(path: &Path, matrix: &ArrayView2<f64>) -> Result<(), MatrixError> {
    let (rows, columns) = matrix.dim();
    Ok(output::write_with(path, &|out| {
        out.write_all(&header("<f8", &[rows, columns]))?;
        matrix.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
    })?)
}

/// An open file: the header is parsed, the numbers are not read yet.
struct Array {
    path: PathBuf,
    reader: BufReader<File>,
    shape: Vec<usize>,
    fortran: bool,
    single: bool,
    little: bool,
}

impl Array {
    fn open(path: &Path) -> Result<Self, MatrixError> {
        let read = |source| MatrixError::Read { path: path.into(), source };
        let content = |problem| MatrixError::Content { path: path.into(), problem };
        let file = input::open(path).map_err(read)?;
        let length = file.metadata().map_err(read)?.len();
        let mut reader = BufReader::new(file);
        let (header, header_length) = read_header(&mut reader).map_err(|problem| {
            content(format!("not a NumPy .npy file ({problem}); write it with numpy.save"))
        })?;
        let shape: Vec<usize> = header.shape().iter().map(|&n| n as usize).collect();
        let (single, little) = match header.dtype() {
            DType::Plain(kind) if kind.type_char() == TypeChar::Float => {
                let little = kind.endianness() != Endianness::Big;
                match kind.size_field() {
                    4 => (true, little),
                    8 => (false, little),
                    _ => return Err(content(unsupported(&header))),
                }
            }
            _ => return Err(content(unsupported(&header))),
        };
        let item = if single { 4 } else { 8 };
        let promised = shape.iter().try_fold(item, |n: usize, &len| n.checked_mul(len));
        if promised.map(|n| n as u64) != Some(length - header_length) {
            return Err(content(format!(
                "shape {shape:?} does not fit the {} bytes of data after the header; the file is \
                 cut off or damaged, write it again with numpy.save",
                length - header_length
            )));
        }
        Ok(Self {
            path: path.into(),
            reader,
            fortran: header.order() == Order::Fortran,
            shape,
            single,
            little,
        })
    }

    fn refuse(&self, problem: String) -> MatrixError {
        MatrixError::Content { path: self.path.clone(), problem }
    }

    fn decode<T, const N: usize>(
        mut self,
        little: impl Fn([u8; N]) -> T,
        big: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, MatrixError> {
        let count: usize = self.shape.iter().product();
        let mut values = Vec::with_capacity(count);
        let mut block = vec![0; BLOCK];
        while values.len() < count {
            let bytes = &mut block[..BLOCK.min((count - values.len()) * N)];
            self.reader
                .read_exact(bytes)
                .map_err(|source| MatrixError::Read { path: self.path.clone(), source })?;
            // One loop for each byte order, so that the usual one is a plain copy.
            let items = bytes.as_chunks::<N>().0.iter();
            if self.little {
                values.extend(items.map(|item| little(*item)));
            } else {
                values.extend(items.map(|item| big(*item)));
            }
        }
        Ok(values)
    }
}

fn unsupported(header: &NpyHeader) -> String {
    format!(
        "numbers of type {} are not supported; save with .astype('float32') or .astype('float64')",
        header.dtype().descr()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    /// A file as numpy writes it.
    fn npy(kind: &str, fortran: bool, shape: &str, data: &[u8]) -> tempfile::NamedTempFile {
        let order = if fortran { "True" } else { "False" };
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        file(&bytes)
    }

    #[test]
    fn a_matrix_comes_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let x = Array2::from_shape_fn((300, 70), |(i, j)| 0.1 * i as f64 - j as f64);
        write_matrix(&path, &x.view()).unwrap();
        assert_eq!(read_matrix(&path).unwrap(), Matrix::F64(x.clone()));
        write_matrix(&path, &x.t()).unwrap();
        assert_eq!(read_matrix(&path).unwrap().into_f64(), x.t());
    }

    #[test]
    fn precision_order_and_endianness_are_kept() {
        let data: Vec<u8> =
            [1f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        let file = npy(">f4", true, "(2, 3)", &data);
        let expected = array![[1f32, 3.0, 5.0], [2.0, 4.0, 6.0]];
        assert_eq!(read_matrix(file.path()).unwrap(), Matrix::F32(expected));
        let file = npy(">f4", false, "(6,)", &data);
        assert_eq!(read_matrix(file.path()).unwrap().dim(), (6, 1));
        assert_eq!(read_vector(file.path()).unwrap(), array![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_the_remedy() {
        for (file, part) in [
            (npy("<f8", false, "(2,)", &[0; 15]), "cut off"),
            (npy("<f8", false, "(2,)", &[0; 17]), "cut off"),
            (npy("<f8", false, "(4294967296, 1073741824)", &[0; 8]), "cut off"),
            (npy("<i8", false, "(1,)", &[0; 8]), "astype('float32')"),
            (npy("<f2", false, "(1,)", &[0; 2]), "astype('float32')"),
            (npy("<f8", false, "(1, 1, 1)", &[0; 8]), "give a matrix"),
            (file(b"1,2,3\n"), "numpy.save"),
            (file(b""), "numpy.save"),
        ] {
            let error = read_matrix(file.path()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
            assert!(error.contains(file.path().to_str().unwrap()), "{error}");
        }
        let file = npy("<f4", false, "(2, 2)", &[0; 16]);
        assert!(read_vector(file.path()).unwrap_err().to_string().contains("give a vector"));
        let missing = read_matrix(Path::new("no/such.npy")).unwrap_err().to_string();
        assert!(missing.contains("no/such.npy"), "{missing}");
    }
}
