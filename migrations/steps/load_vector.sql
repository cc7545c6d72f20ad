-- Loads the library: without it, only a superuser may name its settings in a function.
select vector_dims('[0]'::vector);
